"""Alerts (R81): rules over the gateway's events, and the webhooks that tell of them."""
