"""Measurements, one command each. Nothing of the product imports them."""
