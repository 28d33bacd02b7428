"""Records and shared state."""
