"""Placeholders where a request holds personal data, and the values back in its answer (R31)."""
