"""Values that every other part speaks in."""
