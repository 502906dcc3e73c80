"""Small edits of a clone, as a contributor makes them."""

from dataclasses import dataclass
from pathlib import Path

HERE = "tests/instruments/recipes"


@dataclass(frozen=True, slots=True)
class Edit:
    """Put ``text`` behind the only place of ``anchor`` in ``file``, or instead of it.

    Without an anchor it is the text of a new file.
    """

    file: str
    anchor: str
    text: str
    instead: bool = False

    def apply(self, clone: Path, recipe: str) -> None:
        path = clone / self.file
        if not self.anchor:
            assert not path.exists(), f"edit {HERE}/{recipe}.py: {self.file} exists"
            path.write_text(self.text, "utf-8")
            return
        before = path.read_text("utf-8") if path.exists() else ""
        found = before.count(self.anchor)
        assert found == 1, (
            f"edit {HERE}/{recipe}.py, its anchor in {self.file} has changed: "
            f"{self.anchor!r} is there {found} times, not once"
        )
        kept = "" if self.instead else self.anchor
        path.write_text(before.replace(self.anchor, kept + self.text), "utf-8")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A step that somebody may forget, the test that notices, and what it says."""

    step: str
    test: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A change as sections of CONTRIBUTING.md describe it.

    ``steps`` are its edits by what they do; ``tests`` are those of the folders that it
    touches, beside the fast ones.
    """

    name: str
    sections: tuple[str, ...]
    steps: dict[str, tuple[Edit, ...]]
    tests: tuple[str, ...]
    left_out: tuple[LeftOut, ...]

    def apply(self, clone: Path, *, without: str | None = None) -> None:
        assert without is None or without in self.steps
        for step, edits in self.steps.items():
            if step != without:
                for edit in edits:
                    edit.apply(clone, self.name)
