"""Schemathesis: whatever is sent by whom, the service does as its document says.

SCHEMATHESIS_EXAMPLES sets how many requests are made up for each operation; the
default takes about a minute for each kind of caller.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig

from tests.integration.openapi.adapt import towards_reality
from tests.integration.openapi.live import Live, live_service
from tests.support.databases import fresh_database
from tests.support.openapi.contract import closed, current_document

pytestmark = pytest.mark.thorough

EXAMPLES_MAX = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "3"))
CALLERS = ["superuser", "manager", "reader", "auditor", "runtime", "stranger"]

# 412: If-Match or X-Min-Position was made up; that is well-formed, and refused.
ACCEPTED = ["2xx", 304, 401, 403, 404, 409, 412, 429]
# Their requests have rules that a schema can't express: an end comes after a start.
WITH_RULES = [
    "get_session_list",
    "get_usage",
    "get_usage_csv",
    "get_aggregate",
    "get_aggregate_difference",
    "get_connector_exposure",
    "get_decisions_difference",
    "get_inclusion_proof",
    "get_consistency_proof",
    "bulk_update_tools",
    "post_tool_rules_preview",
    "post_tool_rules_restore",
    "post_session",
    "post_turn",
    "post_session_end",
    "post_traces",
    "post_logs",
    "post_metrics",
    "post_provider",
    "post_price",
    "post_price_correction",
    "post_price_end",
    "post_contract",
    "post_contract_correction",
    "post_contract_end",
    "post_litellm_import",
    "post_reprice",
    "post_model_connection",
    "put_model_connection",
    "post_preset",
    "put_preset",
    "post_preset_preview",
    "post_preset_restore",
    "put_tiers",
    "post_tiers_preview",
    "post_tiers_restore",
    "put_model_routing",
    "post_model_routing_preview",
    "post_model_routing_restore",
]
# The import reads a whole price list each time, and the other one is as good an
# example; the stream has no end.
SLOW = ["post_genai_prices_import", "get_audit_stream"]


def config() -> SchemathesisConfig:
    accepting = {"expected-statuses": [*ACCEPTED, 400, 422]}
    return SchemathesisConfig.from_dict(
        {
            "generation": {
                "mode": "all",
                "allow-extra-parameters": False,
                "max-examples": EXAMPLES_MAX,
            },
            "checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}},
            "operations": [
                {
                    "include-operation-id": WITH_RULES,
                    "checks": {"positive_data_acceptance": accepting},
                }
            ],
        }
    )


@schemathesis.serializer("application/x-protobuf")
def some_bytes(_context: Any, value: Any) -> bytes:
    return repr(value).encode()


schema = schemathesis.openapi.from_dict(
    closed(current_document()), config=config()
).exclude(operation_id=SLOW)


@pytest.fixture(scope="module", params=CALLERS)
def caller(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def live(
    caller: str, postgres: str, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    with (
        fresh_database(postgres, template) as url,
        live_service(url, tmp_path_factory.mktemp("live")) as service,
    ):
        yield service


@schema.parametrize()
@settings(
    max_examples=EXAMPLES_MAX,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_the_service_does_as_its_document_says(
    case: Any, live: Live, caller: str
) -> None:
    towards_reality(case, live.things)
    case.call_and_validate(
        base_url=live.base_url,
        headers={"Authorization": f"Bearer {live.tokens[caller]}"},
    )
