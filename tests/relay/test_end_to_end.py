"""From a command over HTTP to a stock consumer of the topic."""

import pytest

from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import run_relay
from service.resources import Resources
from tests.callers import Callers
from tests.openapi.walk import Walk, end_things, make_things
from tests.relay.published import require_equal, until_published

pytestmark = pytest.mark.kafka


async def test_every_event_of_the_log_is_on_the_topic_once_and_in_order(
    resources: Resources, callers: Callers, kafka: KafkaSettings
) -> None:
    walk = Walk(await callers.user("ada", "superuser"))
    made = await make_things(walk)
    async with run_relay(resources.log, resources.conninfo, kafka):
        await until_published(resources, kafka)
        await end_things(walk, made)
        await until_published(resources, kafka)
    records = await require_equal(resources, kafka)
    assert len(records) > 30
