"""The HTTP face: the only place that knows OpenAI's shapes and HTTP's status codes."""
