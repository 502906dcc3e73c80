"""From a command over HTTP to a stock consumer of the topic."""

from datetime import datetime
from pathlib import Path

import pytest
from cloudevents.core.bindings.kafka import KafkaMessage, from_binary_event
from jsonschema import Draft202012Validator

from projections.event_contract import schemas
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import run_relay
from projections.relay.type_names import TYPE_PREFIX
from service.resources import Resources
from tests.integration.relay.published import require_equal, until_published
from tests.support.audit.tampering import sign
from tests.support.callers import Callers
from tests.support.kafka.reading import Record
from tests.support.operations.catalog import end_things, make_things
from tests.support.operations.walk import Walk

pytestmark = pytest.mark.kafka


async def test_every_event_of_the_log_is_on_the_topic_once_and_in_order(
    resources: Resources, callers: Callers, kafka: KafkaSettings, tmp_path: Path
) -> None:
    walk = Walk(await callers.user("ada", "superuser"))
    await sign(resources, tmp_path)
    await make_things(walk)
    async with run_relay(resources.log, resources.conninfo, kafka):
        await until_published(resources, kafka)
        await end_things(walk)
        await until_published(resources, kafka)
    records = await require_equal(resources, kafka)
    assert len(records) > 30
    for record in records:
        require_cloud_event(record)
    everything = str(records)
    for secret in [str(walk.caller.token), "sealed", "fingerprint"]:
        assert secret not in everything


def require_cloud_event(record: Record) -> None:
    """As the SDK reads it, and as its schema says."""
    assert record.value is not None
    parsed = from_binary_event(KafkaMessage(record.headers, record.key, record.value))
    name = parsed.get_type().removeprefix(TYPE_PREFIX)
    validator = Draft202012Validator(
        schemas()[name], format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    validator.validate(parsed.get_data())
    assert parsed.get_specversion() == "1.0"
    assert parsed.get_datacontenttype() == "application/json"
    assert parsed.get_subject() == record.key.decode()
    assert parsed.get_extension("partitionkey") == record.key.decode()
    assert int(parsed.get_extension("sequence") or 0) == record.position
    sent_at = datetime.fromisoformat(record.headers["ce_time"].decode())
    assert parsed.get_time() == sent_at
