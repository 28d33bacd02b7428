"""Offline work on models and heads."""
