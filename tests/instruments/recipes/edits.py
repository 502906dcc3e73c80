"""Small edits of a clone, as a contributor makes them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Edit:
    """Put ``text`` behind the only place of ``anchor`` in ``file``, or instead of it.

    Without an anchor it is the text of a new file.
    """

    file: str
    anchor: str
    text: str
    instead: bool = False

    def apply(self, clone: Path, written_in: str) -> None:
        path = clone / self.file
        if not self.anchor:
            assert not path.exists(), f"edit {written_in}: {self.file} exists"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text, "utf-8")
            return
        before = path.read_text("utf-8") if path.exists() else ""
        found = before.count(self.anchor)
        assert found == 1, (
            f"edit {written_in}, its anchor in {self.file} has changed: "
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
    touches, beside the fast ones. ``written_in`` is the file that has the edits.
    """

    name: str
    written_in: str
    sections: tuple[str, ...]
    steps: dict[str, tuple[Edit, ...]]
    tests: tuple[str, ...]
    left_out: tuple[LeftOut, ...]

    def apply(self, clone: Path, *, without: str | None = None) -> None:
        assert without is None or without in self.steps
        for step, edits in self.steps.items():
            if step != without:
                for edit in edits:
                    edit.apply(clone, self.written_in)
