"""The command line."""

from __future__ import annotations

import sys

EXIT_FAILED = 1
"""The check that was asked for failed."""
EXIT_USAGE = 2
"""Bad usage or configuration."""


def main() -> None:
    """Runs the command line; errors of ours become one message and an exit code."""
    from hybridge.cli.app import app
    from hybridge.core.errors import ConfigError, HybridgeError

    try:
        app()
    except ConfigError as error:
        print(f"hybridge: {error}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    except HybridgeError as error:
        print(f"hybridge: {error}", file=sys.stderr)
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
