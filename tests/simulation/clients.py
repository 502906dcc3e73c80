"""Clients of the model, and what they are answered."""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Protocol

from simpy import Environment, Event

from tests.simulation.model import Steps


class Commands(Protocol):
    """Takes commands, and tells whether each was committed."""

    def command(self) -> Generator[Event, Any, bool]: ...


@dataclass(slots=True)
class Answers:
    """When commands were answered, how long they took, and how many were refused."""

    warm_up_s: float = 0.0
    times: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    refused: int = 0

    def add(self, began: float, ended: float) -> None:
        if ended >= self.warm_up_s:
            self.times.append(ended)
            self.waits.append(ended - began)

    def rate(self, until: float) -> float:
        return len(self.times) / (until - self.warm_up_s)

    def percentile(self, share: float) -> float:
        found = sorted(self.waits)
        return found[min(int(len(found) * share), len(found) - 1)]


def closed_loop(process: Commands, env: Environment, answers: Answers) -> Steps:
    """A caller that sends its next command when it has its answer."""
    while True:
        began = env.now
        if (yield from process.command()):
            answers.add(began, env.now)
        else:
            answers.refused += 1
