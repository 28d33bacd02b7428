"""The OpenAPI document, made from the same tables that check requests."""
