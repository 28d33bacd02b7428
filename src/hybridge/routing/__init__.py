"""Deciding where a request runs."""
