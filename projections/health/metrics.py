"""The metrics of this process, together with those of its follower process."""

from collections.abc import Iterable
from copy import copy
from typing import Final

from prometheus_client import REGISTRY, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

LABEL: Final = {"process": "followers"}


class _Families(CollectorRegistry):
    """Families of metrics that have been collected already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        super().__init__()
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def exposition(others: str = "") -> bytes:
    """Return the metrics of this process in the Prometheus text format.

    ``others`` are the follower process's, in the same format; each metric is one group
    of lines, as the format demands.
    """
    if not others:
        return generate_latest()
    families: dict[str, Metric] = {}
    for family in REGISTRY.collect():
        # Some collectors give the same object each time.
        families[family.name] = copied = copy(family)
        copied.samples = list(family.samples)
    for family in text_string_to_metric_families(others):
        # A counter's time of creation is part of the counter's family here.
        if family.name.endswith("_created"):
            continue
        known = families.setdefault(
            family.name, Metric(family.name, family.documentation, family.type)
        )
        known.samples += [
            sample._replace(labels=sample.labels | LABEL) for sample in family.samples
        ]
    return generate_latest(_Families(families.values()))
