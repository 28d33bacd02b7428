"""How long a decision takes: rules, text features, encoder, head, and all of it together."""
