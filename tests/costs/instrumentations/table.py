"""The table of ``docs/costs.md``: what is known of the costs of recorded sessions."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from tests.costs.catalog import ImportedCatalog
from tests.costs.instrumentations.record import recording, recordings
from tests.costs.instrumentations.replay import Replayed, replayed

BEGIN: Final = "<!-- instrumentations -->"
END: Final = "<!-- end of instrumentations -->"
HEAD: Final = (
    "| client and what observes it | sessions | exact | estimated | what isn't told |"
    " no cost | texts |\n|---|---|---|---|---|---|---|\n"
)


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

    def row(self) -> str:
        said = Counter(_whole(turns) for turns in self.sessions.values())
        untold = {
            name
            for turns in self.sessions.values()
            for turn in turns
            for name in turn.charge.estimated
        }
        texts = sum(
            all(turn.has_right_texts for turn in turns)
            for turns in self.sessions.values()
        )
        without = [
            f"{count}: {reason}"
            for reason, count in sorted(said.items())
            if reason not in ("exact", "estimated")
        ]
        names = ", ".join(f"`{name}`" for name in sorted(untold))
        return (
            f"| {self.name} | {len(self.sessions)} | {said['exact']} "
            f"| {said['estimated']} | {names} | {'; '.join(without)} | {texts} |\n"
        )


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
    return HEAD + "".join(each.row() for each in found)


def in_document(document: str) -> str:
    """Return the table that a document holds."""
    return document.partition(f"{BEGIN}\n\n")[2].partition(f"\n{END}")[0]


def with_table(document: str, new: str) -> str:
    return document.replace(in_document(document), new)
