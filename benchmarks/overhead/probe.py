"""One request, read in full and checked word for word."""

from __future__ import annotations

import urllib.error
import urllib.request

from benchmarks.overhead.workloads import ANSWER, Workload

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fault(url: str, workload: Workload, key: str) -> str | None:
    """What is wrong with the answer to `workload`; None when it says what the upstream said."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(url, workload.request, headers)
    try:
        with _DIRECT.open(request, timeout=30) as answer:
            said = workload.said(answer.read())
    except urllib.error.HTTPError as error:
        return f"status {error.code}: {error.read()[:500].decode(errors='replace')}"
    except OSError as error:
        return f"no answer: {error}"
    except (ValueError, LookupError, TypeError) as error:
        return f"not a chat completion: {error!r}"
    return None if said == ANSWER else f"another answer than the upstream's: {said!r}"
