"""Subscribers to what happens."""
