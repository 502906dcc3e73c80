"""The table of ``docs/costs.md``: what is known of the costs of recorded sessions."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from tests.instruments.costs.catalog import ImportedCatalog
from tests.instruments.costs.instrumentations.record import recording, recordings
from tests.instruments.costs.instrumentations.replay import Replayed, replayed

BEGIN: Final = "<!-- instrumentations -->"
END: Final = "<!-- end of instrumentations -->"
HEAD: Final = "| what isn't told | client and what observes it |\n|---|---|\n"
EXACT: Final = "nothing: the cost is exact"
NO_COST: Final = "no cost"
TEXTS: Final = "no text of some turn"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one recording's sessions say of their cost, and how many have both texts."""

    name: str
    sessions: dict[str, list[Replayed]]

    @property
    def is_wrong(self) -> bool:
        return any(
            turn.says == "wrong" for turns in self.sessions.values() for turn in turns
        )

    def rows(self) -> Iterator[tuple[str, str]]:
        """Return the rows of the table that name this recording, and its name there."""
        said = Counter(_whole(turns) for turns in self.sessions.values())
        untold = {
            name
            for turns in self.sessions.values()
            for turn in turns
            for name in turn.charge.estimated
        }
        if said["exact"]:
            yield EXACT, self._named(said["exact"])
        if said["estimated"]:
            names = ", ".join(f"`{name}`" for name in sorted(untold))
            yield names, self._named(said["estimated"])
        for reason in sorted(said.keys() - {"exact", "estimated"}):
            yield f"{NO_COST}: {reason}", self._named(said[reason])
        without_texts = sum(
            not all(turn.has_right_texts for turn in turns)
            for turns in self.sessions.values()
        )
        if without_texts:
            yield TEXTS, self._named(without_texts)

    def _named(self, count: int) -> str:
        """Name the recording, and how many of its sessions are meant if not all."""
        of = len(self.sessions)
        return self.name if count == of else f"{self.name} ({count} of {of})"


def _whole(turns: Iterable[Replayed]) -> str:
    """Return what a session says: the worst that one of its turns does."""
    said = {turn.says for turn in turns}
    for worst in sorted(said - {"exact", "estimated"}):
        return worst
    return "estimated" if "estimated" in said else "exact"


async def outcomes() -> list[Outcome]:
    """Replay all recordings."""
    catalog = ImportedCatalog(import_genai_prices())
    return [
        Outcome(
            name,
            {
                case: await replayed(session, catalog)
                for case, session in recording(name)["sessions"].items()
            },
        )
        for name in recordings()
    ]


def table(found: Iterable[Outcome]) -> str:
    """Return a row for each kind of answer: exact ones, estimates, no cost, texts."""
    named: dict[str, list[str]] = {}
    for each in found:
        for row, name in each.rows():
            named.setdefault(row, []).append(name)
    return HEAD + "".join(
        f"| {row} | {', '.join(named[row])} |\n" for row in sorted(named, key=_order)
    )


def _order(row: str) -> tuple[bool, bool, bool, str]:
    return row != EXACT, row == TEXTS, row.startswith(NO_COST), row


def in_document(document: str) -> str:
    """Return the table that a document holds."""
    return document.partition(f"{BEGIN}\n\n")[2].partition(f"\n{END}")[0]


def with_table(document: str, new: str) -> str:
    return document.replace(in_document(document), new)
