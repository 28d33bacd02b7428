"""Anthropic's Messages API, in both directions.

`dialect` ── `request` (`turns`, `content`, `tools`, `thinking`)
          └─ `answer`, `events` (`shape`, `meaning`)

API: https://docs.anthropic.com/en/api/messages, version 2023-06-01.
"""
