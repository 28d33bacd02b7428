"""Pictures at an address, for backends that take nothing but the picture itself.

`backend` ── `pictures` ── `fetch` ── `dial`; `location`, `networks` and `kinds` decide, and do
nothing.
"""
