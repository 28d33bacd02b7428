"""Schemathesis: what `/openapi.json` says is what the gateway does."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.specs.openapi.checks import positive_data_acceptance


@pytest.fixture
def document(open_gateway):
    """The served description; it describes the gateway that serves it."""
    return schemathesis.openapi.from_url(f"{open_gateway.url}/openapi.json")


schema = schemathesis.pytest.from_fixture("document")


@schema.parametrize()
@settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_operation_keeps_to_its_description(case: Case, open_gateway):
    """Answers have the described statuses, types and forms, whatever is sent; none is a 500.

    Fields that need each other (`stream_options` needs `stream`) are described in words only, so a
    request of the right form may be refused; then the error names the field at fault.
    """
    if isinstance(case.body, dict) and isinstance(case.body.get("model"), str):
        case.body["model"] = "auto"  # any other name is a 404, and shows nothing
    response = case.call_and_validate(
        headers={"authorization": f"Bearer {open_gateway.key}"},
        excluded_checks=[positive_data_acceptance],
        timeout=30,
    )
    if response.status_code == 400 and isinstance(case.body, dict):
        assert response.json()["error"]["param"] is not None
