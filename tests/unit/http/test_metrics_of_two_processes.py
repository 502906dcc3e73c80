"""The metrics of two processes in one answer, rendered once for all who ask."""

import asyncio
from collections.abc import Iterable, Iterator

import pytest
from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    generate_latest,
)
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from projections.health import metrics as health_metrics
from projections.health.metrics import SAMPLES_AT_ONCE, Metrics, exposition
from service.http.loop_delay import DELAY

SERIES = 2 * SAMPLES_AT_ONCE + 1


class Many(Collector):
    """A metric of many series that counts how often it is collected."""

    def __init__(self) -> None:
        self.times = 0

    def collect(self) -> Iterable[Metric]:
        self.times += 1
        family = GaugeMetricFamily("many", "Many series.", labels=["number"])
        for number in range(SERIES):
            family.add_metric([str(number)], number)
        yield family


@pytest.fixture
def many() -> Iterator[Many]:
    collector = Many()
    REGISTRY.register(collector)
    collector.times = 0
    yield collector
    REGISTRY.unregister(collector)


async def test_metrics_of_the_follower_process_have_its_label() -> None:
    theirs = CollectorRegistry()
    Counter("agent_runtime_relay_events", "Published.", registry=theirs).inc(3)
    Gauge("lag", "Lag.", ["follower"], registry=theirs).labels("users").set(7)

    families = text_string_to_metric_families(
        (await exposition(generate_latest(theirs).decode())).decode()
    )

    samples = {
        (sample.name, sample.labels.get("process"), sample.labels.get("follower")): (
            sample.value
        )
        for family in families
        for sample in family.samples
    }
    assert samples["lag", "followers", "users"] == 7
    assert samples["agent_runtime_relay_events_total", "followers", None] == 3
    (ours,) = DELAY.describe()
    assert samples[f"{ours.name}_count", None, None] >= 0


async def test_each_metric_is_described_once(many: Many) -> None:
    merged = (await exposition(generate_latest().decode())).decode()

    described = [line for line in merged.splitlines() if line.startswith("# TYPE")]
    assert len(described) == len(set(described))
    assert merged.count('process="followers"') > 10
    assert merged.count("\nmany{") == 2 * SERIES


async def test_rendered_in_pieces_it_is_the_same(many: Many) -> None:
    rendered = (await exposition()).decode().splitlines()

    whole = generate_latest().decode().splitlines()
    assert [line for line in rendered if line.startswith(("many", "#"))] == [
        line for line in whole if line.startswith(("many", "#"))
    ]
    assert len(rendered) == len(whole)


async def test_only_a_follower_process_adds_its_metrics() -> None:
    assert 'process="followers"' not in (await exposition()).decode()


async def test_all_who_ask_at_a_time_get_one_rendering(
    many: Many, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    async def others() -> str:
        nonlocal asked
        asked += 1
        return ""

    monkeypatch.setattr(health_metrics, "AGE_MAX_S", 3600.0)
    metrics = Metrics(others)

    answers = await asyncio.gather(*(metrics.text() for _ in range(20)))

    assert len(set(answers)) == 1
    assert b"many" in answers[0]
    assert (many.times, asked) == (1, 1)

    monkeypatch.setattr(health_metrics, "AGE_MAX_S", -1.0)
    await metrics.text()
    assert (many.times, asked) == (2, 2)


async def test_a_failed_rendering_is_not_kept(many: Many) -> None:
    fails = True

    async def others() -> str:
        if fails:
            raise ConnectionError
        return ""

    metrics = Metrics(others)
    with pytest.raises(ConnectionError):
        await metrics.text()
    fails = False
    assert b"many" in await metrics.text()
    assert many.times == 1


async def test_the_loop_is_free_between_pieces(many: Many) -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(take_turns())
    await exposition()
    others.cancel()

    assert turns > SERIES / SAMPLES_AT_ONCE
