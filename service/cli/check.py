"""What a check of ``doctor`` has found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check: its name, and the problem that it found, if any.

    With ``warns`` the problem is for the operator to judge, and no failure.
    """

    name: str
    problem: str | None = None
    warns: bool = False
