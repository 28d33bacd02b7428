"""Carrying a decision out."""
