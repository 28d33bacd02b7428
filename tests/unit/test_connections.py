"""R32: every part of the house that can reach another machine is known, and named in the docs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "src" / "hybridge"
PAGE = ROOT / "docs" / "explanation" / "privacy.md"
PACKAGES = frozenset(
    {
        *(
            "aiohttp",
            "asyncpg",
            "ftplib",
            "grpc",
            "http.client",
            "httpx",
            "huggingface_hub",
            "obstore",
        ),
        *(
            "opentelemetry.exporter.otlp.proto.http",
            "pyqwest",
            "redis",
            "requests",
            "smtplib",
            "socketserver",
        ),
        *("urllib.request", "urllib3", "websockets", "xmlrpc"),
    }
)
CALLS = frozenset(
    {
        *("create_async_engine", "create_connection", "create_datagram_endpoint", "getaddrinfo"),
        *("open_connection", "open_unix_connection", "sock_connect", "urlopen"),
        *("create_subprocess_exec", "create_subprocess_shell", "Popen"),
    }
)
"""What opens a connection, by the name of the function, wherever it comes from."""
COMMAND_LINE = frozenset({"cli", "testing"})
"""What a person starts on purpose, and stand-ins for tests: not part of a gateway that serves."""


def reaches(module: Path) -> bool:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    imported = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in CALLS:
                return True
    return any(
        name == package or name.startswith(f"{package}.")
        for name in imported
        for package in PACKAGES
    )


def test_whoever_can_reach_another_machine_is_in_the_table() -> None:
    modules = (path.relative_to(HOUSE).with_suffix("") for path in HOUSE.rglob("*.py"))
    found = {
        module.as_posix()
        for module in modules
        if module.parts[0] not in COMMAND_LINE and reaches(HOUSE / f"{module}.py")
    }
    section = PAGE.read_text(encoding="utf-8").partition("## Who can reach another machine")[2]
    told = set(re.findall(r"^\| `([a-z_/]+)`", section, re.MULTILINE))
    assert found == told
