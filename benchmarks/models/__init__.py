"""Exchanging versions of a local model under load."""
