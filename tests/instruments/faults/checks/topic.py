"""The topic, held against the log: every event once, in order."""

from service.open_resources import open_resources
from tests.instruments.faults.checks import Findings
from tests.instruments.faults.running_service import RunningService
from tests.integration.relay.published import require_equal, until_published


async def check_topic(
    stage: RunningService, findings: Findings, *, timeout_s: float
) -> None:
    kafka = stage.kafka
    if kafka is None:
        return
    async with open_resources(stage.url, stage.data) as resources:
        try:
            await until_published(resources, kafka, timeout_s=timeout_s)
            await require_equal(resources, kafka)
        except TimeoutError:
            findings.add(f"the topic is behind the log after {timeout_s} s")
        except AssertionError:
            # Its own words would print the whole log.
            findings.add("the topic isn't the log")
