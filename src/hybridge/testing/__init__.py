"""Stand-ins for tests, shipped."""
