"""Models elsewhere."""
