"""The page of all metrics, from where the code declares them."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from prometheus_client.metrics import MetricWrapperBase

import projections
import service
from docs.generator.markdown import code, entries

HEAD: Final = """\
# Metrics

For operators: every metric at `/metrics` with its labels, generated from the code by `make generated`.
[monitoring.md](monitoring.md) says what to alert on.

The Prometheus client's own metrics of the process are there, too.
Metrics are collected at most once a second: who asks again sooner gets the same answer.
`serve` also shows the metrics of its follower process, each with the label `process="followers"`; those of followers, relay and checkpoints are there.
"""


def metrics_page() -> str:
    rows = [_entry(each) for each in sorted(metrics(), key=_name)]
    return "\n".join([HEAD, *entries(rows), ""])


def metrics() -> Iterator[MetricWrapperBase]:
    """Yield each metric that a module of the service declares."""
    seen: set[int] = set()
    for package in (service, projections):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            for value in vars(import_module(found.name)).values():
                if isinstance(value, MetricWrapperBase) and id(value) not in seen:
                    seen.add(id(value))
                    yield value


def _name(metric: MetricWrapperBase) -> str:
    """Return the name as ``/metrics`` shows it."""
    (described,) = metric.describe()
    return described.name + ("_total" if described.type == "counter" else "")


def _entry(metric: MetricWrapperBase) -> tuple[str, str]:
    (described,) = metric.describe()
    labels = ",".join(metric._labelnames)  # noqa: SLF001 # it says them nowhere else
    name = _name(metric) + (f"{{{labels}}}" if labels else "")
    return code(name), described.documentation
