"""Engines of this device."""
