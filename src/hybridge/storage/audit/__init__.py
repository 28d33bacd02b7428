"""The audit trail: what was private and what left, sealed so that a change of it shows (R32)."""
