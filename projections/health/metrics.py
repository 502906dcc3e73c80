"""The metrics of this process, together with those of its follower process."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from copy import copy
from typing import Final

from prometheus_client import REGISTRY, disable_created_metrics, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

LABEL: Final = {"process": "followers"}
# How old an answer may be: asking more often costs nothing.
AGE_MAX_S: Final = 1.0
# So many take some milliseconds. Then others have their turn.
SAMPLES_AT_ONCE: Final = 250
# A series more for each series, which says when it was created.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The text of ``/metrics``, rendered once for all who ask within a second.

    ``others`` returns the follower process's metrics, in the same format, or nothing.
    """

    def __init__(self, others: Callable[[], Awaitable[str]] | None = None) -> None:
        self._others = others
        self._rendering = asyncio.Lock()
        self._text = b""
        self._rendered_at: float | None = None

    async def text(self) -> bytes:
        clock = asyncio.get_running_loop().time
        async with self._rendering:
            at = self._rendered_at
            if at is None or clock() - at > AGE_MAX_S:
                others = "" if self._others is None else await self._others()
                self._text = await exposition(others)
                self._rendered_at = clock()
            return self._text


async def exposition(others: str = "") -> bytes:
    """Return the metrics of this process in the Prometheus text format.

    ``others`` are the follower process's, in the same format; each metric is one group
    of lines, as the format demands. It is rendered on the event loop, with pauses: a
    thread that renders would have the interpreter's lock for as long.
    """
    families: dict[str, Metric] = {}
    for family in REGISTRY.collect():
        # Some collectors give the same object each time.
        families[family.name] = copied = copy(family)
        copied.samples = list(family.samples)
        await asyncio.sleep(0)
    for family in text_string_to_metric_families(others):
        known = families.setdefault(
            family.name, Metric(family.name, family.documentation, family.type)
        )
        known.samples += [
            sample._replace(labels=sample.labels | LABEL) for sample in family.samples
        ]
        await asyncio.sleep(0)
    rendered = []
    for family in families.values():
        for piece in _pieces(family):
            rendered.append(piece)
            await asyncio.sleep(0)
    return b"".join(rendered)


class _OneFamily(CollectorRegistry):
    """A family of metrics that has been collected already."""

    def __init__(self, family: Metric) -> None:
        super().__init__()
        self._family = family

    def collect(self) -> Iterable[Metric]:
        yield self._family


def _pieces(family: Metric) -> Iterator[bytes]:
    """Yield the lines of a family, some of its samples at a time."""
    samples = family.samples
    for first in range(0, max(len(samples), 1), SAMPLES_AT_ONCE):
        part = copy(family)
        part.samples = samples[first : first + SAMPLES_AT_ONCE]
        lines = generate_latest(_OneFamily(part))
        # The lines HELP and TYPE stand before the first sample only.
        yield lines if first == 0 else lines.split(b"\n", 2)[2]
