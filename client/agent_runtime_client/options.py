"""The options of a client."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a client's calls.

    ``timeout_s`` is for one attempt, ``deadline_s`` for a call with all of its
    attempts. ``max_retries`` counts the attempts after the first. ``min_position`` is
    a log position that reads have to reflect, ``reads_own_writes`` makes them reflect
    the last command of this client, too. ``headers`` are sent with every request, such
    as ``traceparent``.
    """

    timeout_s: float = 10.0
    deadline_s: float = 60.0
    max_retries: int = 2
    reads_own_writes: bool = True
    min_position: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)


class OptionChanges(TypedDict, total=False):
    """The fields of :class:`Options`, each optional."""

    timeout_s: float
    deadline_s: float
    max_retries: int
    reads_own_writes: bool
    min_position: int
    headers: Mapping[str, str]
