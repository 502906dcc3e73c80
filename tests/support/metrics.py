"""What metrics say."""

from prometheus_client import Counter, Gauge


def counted(counter: Counter, **labels: str) -> float:
    """Return the value of a counter with these labels; 0 if it has none yet."""
    samples = next(iter(counter.collect())).samples
    return sum(
        sample.value
        for sample in samples
        if sample.name.endswith("_total") and labels.items() <= sample.labels.items()
    )


def value_of(gauge: Gauge) -> float:
    """Return the value of a gauge without labels."""
    [metric] = gauge.collect()
    return metric.samples[0].value
