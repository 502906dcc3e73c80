"""What was compared, and how much of it agrees."""

from collections import Counter
from dataclasses import dataclass, field

EXAMPLES_MAX = 5


@dataclass
class Agreement:
    """The result of one comparison; each difference has a reason or has none."""

    name: str
    share_min: float = 0.9
    names: int = 0
    compared: int = 0
    equal: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def add(self, case: str, *, is_equal: bool, reason: str | None = None) -> None:
        self.compared += 1
        if is_equal:
            self.equal += 1
        elif reason is not None:
            self.explained[reason] += 1
        else:
            self.unexplained.append(case)

    @property
    def suffices(self) -> bool:
        """Return whether all differences have reasons, and most costs are equal."""
        return not self.unexplained and self.share >= self.share_min

    @property
    def share(self) -> float:
        return self.equal / self.compared if self.compared else 0.0

    def row(self) -> str:
        """Return the table's row, in Markdown."""
        return (
            f"| {self.name} | {self.names:,} | {self.compared:,} | {self.equal:,} "
            f"({self.share:.3%}) | {self.explained.total():,} | "
            f"{len(self.unexplained):,} |"
        )

    def reasons(self) -> list[str]:
        explained = [
            f"- {self.name}: {count:,} times {reason}"
            for reason, count in self.explained.most_common()
        ]
        return explained + [
            f"- {self.name}: without a reason: {case}"
            for case in self.unexplained[:EXAMPLES_MAX]
        ]
