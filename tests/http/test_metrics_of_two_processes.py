"""The metrics of two processes in one answer."""

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from projections.health.metrics import exposition
from service.http.loop_delay import DELAY


def test_metrics_of_the_follower_process_have_its_label() -> None:
    theirs = CollectorRegistry()
    Counter("agent_runtime_relay_events", "Published.", registry=theirs).inc(3)
    Gauge("lag", "Lag.", ["follower"], registry=theirs).labels("users").set(7)

    families = text_string_to_metric_families(
        exposition(generate_latest(theirs).decode()).decode()
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


def test_each_metric_is_described_once() -> None:
    merged = exposition(generate_latest().decode()).decode()

    described = [line for line in merged.splitlines() if line.startswith("# TYPE")]
    assert len(described) == len(set(described))
    assert merged.count('process="followers"') > 10


def test_without_a_follower_process_nothing_is_added() -> None:
    assert 'process="followers"' not in exposition().decode()
