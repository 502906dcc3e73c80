"""Clients of the model, and what they are answered."""

from dataclasses import dataclass, field

from simpy import Environment

from tests.simulation.model import Process, Steps


@dataclass(slots=True)
class Answers:
    """When commands were answered, how long they took, and how many were refused."""

    warm_up_s: float = 0.0
    times: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    refused: int = 0

    def add(self, began: float, ended: float) -> None:
        if began >= self.warm_up_s:
            self.times.append(ended)
            self.waits.append(ended - began)

    def rate(self, until: float) -> float:
        return len(self.times) / (until - self.warm_up_s)


def closed_loop(process: Process, env: Environment, answers: Answers) -> Steps:
    """A caller that sends its next command when it has its answer."""
    while True:
        began = env.now
        if (yield from process.command()):
            answers.add(began, env.now)
        else:
            answers.refused += 1
