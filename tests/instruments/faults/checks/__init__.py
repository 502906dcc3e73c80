"""What must hold of a log, and of all that is made of it, after any fault.

Each check returns what it found wrong, in words; nothing when all is well.
"""

FINDINGS_MAX = 20


class Findings(list[str]):
    """Counts all, and keeps the first few."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def add(self, words: str) -> None:
        self.total += 1
        if len(self) < FINDINGS_MAX:
            self.append(words)
