"""The rules by which a price list matches the names that providers answer with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from eventsourcing.domain import event
from typing_extensions import TypedDict

from service.aggregate import LoggedAggregate
from service.errors import ConflictError
from service.events import Named, Published, Time
from service.identifiers import named_id
from service.price_catalog.periods import Provenance, time_text

# Each change of a provider's or a model's rule adds one.
EDITIONS_MAX: Final = 100_000


class NameTest(TypedDict):
    """A test of a name in lower case.

    ``test`` is ``equals``, ``starts_with``, ``ends_with``, ``contains`` or ``regex``.
    """

    test: str
    text: str


Clause = list[list[NameTest]]
"""Alternatives; a name matches if it passes all tests of one of them."""


class ProviderRules(TypedDict):
    """The rules that recognize a provider by its own name, or by that of a model.

    ``fallbacks`` are providers whose models it offers, too.
    """

    by_name: Clause
    by_model: Clause
    fallbacks: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRules:
    """A provider's rules in a price list, with its models in order of precedence."""

    provider: str
    rules: ProviderRules
    models: tuple[tuple[str, Clause], ...]


class MatchRules(LoggedAggregate):
    """All rules of a price list, in editions: each holds from a time on.

    State: for each provider and for each of its models a list of pairs, the start of an
    edition and its rules, in the order of time; None where there are none any more.
    """

    class Created(LoggedAggregate.Created):
        """The rules of a price list are imported for the first time.

        Emitted by imports of price lists.
        """

        TOPIC = "match_rules.listed"
        source: Published[str]

        def sentence(self, named: Named) -> str:
            return f"listed the match rules of {self.source}"

    class ProviderChanged(LoggedAggregate.Event):
        """The rules for a provider's names have changed.

        ``models`` has the rule of each model whose rule differs, null for none;
        ``order`` all models in order of precedence, and ``providers`` all providers,
        null if unchanged. Rules are alternatives of tests.

        Emitted by imports of price lists.
        """

        TOPIC = "match_rules.provider_changed"
        provider: Published[str]
        effective_from: Published[Time]
        rules: Published[ProviderRules | None]
        models: Published[dict[str, Clause | None]]
        order: Published[list[str] | None]
        providers: Published[list[str] | None]
        source: Published[Provenance]

        def sentence(self, named: Named) -> str:
            return (
                f"changed the match rules of {len(self.models)} models of provider "
                f"{self.provider} from {self.effective_from}"
            )

        def apply(self, aggregate: "MatchRules") -> None:
            start, provider = self.effective_from, self.provider
            if self.rules is not None:
                edition = (*aggregate.rules.get(provider, ()), [start, self.rules])
                aggregate.rules = {**aggregate.rules, provider: list(edition)}
            known = aggregate.models.get(provider, {})
            changed = {
                model: [*known.get(model, []), [start, clause]]
                for model, clause in self.models.items()
            }
            aggregate.models = {**aggregate.models, provider: {**known, **changed}}
            if self.order is not None:
                aggregate.orders = {**aggregate.orders, provider: self.order}
            if self.providers is not None:
                aggregate.providers = self.providers
            aggregate.editions += len(self.models) + 1

    TOPIC = "match_rules"

    @staticmethod
    def create_id(source: str) -> UUID:
        return named_id("match_rules", source)

    @event(Created)
    def __init__(self, source: str) -> None:
        self.source = source
        self.editions = 0
        self.providers: list[str] = []
        self.orders: dict[str, list[str]] = {}
        self.rules: dict[str, list[list[Any]]] = {}
        self.models: dict[str, dict[str, list[list[Any]]]] = {}

    def replace(
        self, listed: Sequence[ListedRules], source: Provenance, *, now: datetime
    ) -> list[str]:
        """Make the rules those of a list, and return the providers that changed.

        The first rules hold for all times, changes from now on. Models and providers
        that the list leaves out have no rules any more.
        """
        names = [each.provider for each in listed]
        gone = [
            ListedRules(provider=name, rules=_NO_RULES, models=())
            for name in self.providers
            if name not in names
        ]
        start = time_text(now) if self.providers else ALWAYS
        changed = []
        names += [each.provider for each in gone]
        order: list[str] | None = names if names != self.providers else None
        for each in [*listed, *gone]:
            facts = self._differences(each)
            if not facts and order is None:
                continue
            if self.editions + len(each.models) + 1 > EDITIONS_MAX:
                raise ConflictError(
                    f"match rules have at most {EDITIONS_MAX} editions",
                    code="too_many_periods",
                )
            self.trigger_event(
                self.ProviderChanged,
                provider=each.provider,
                effective_from=start,
                **{"rules": None, "models": {}, "order": None, **facts},
                providers=order,
                source=source,
            )
            order = None
            changed.append(each.provider)
        return changed

    def _differences(self, listed: ListedRules) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if latest(self.rules.get(listed.provider)) != listed.rules:
            facts["rules"] = listed.rules
        known = self.models.get(listed.provider, {})
        clauses: Mapping[str, Clause | None] = {
            **dict.fromkeys(known),
            **dict(listed.models),
        }
        models = {
            model: clause
            for model, clause in clauses.items()
            if latest(known.get(model)) != clause
        }
        if models:
            facts["models"] = models
        # Models that are gone stay last: past times need them.
        before = self.orders.get(listed.provider, [])
        names = dict.fromkeys([*(model for model, _ in listed.models), *before])
        if list(names) != before:
            facts["order"] = list(names)
        return facts


ALWAYS: Final = "0001-01-01T00:00:00.000000+00:00"
_NO_RULES: Final[ProviderRules] = {"by_name": [], "by_model": [], "fallbacks": []}


def latest(editions: Sequence[Sequence[Any]] | None) -> Any:
    """Return the rules of the newest edition, or None."""
    return editions[-1][1] if editions else None


def edition_at(editions: Sequence[Sequence[Any]] | None, at: str) -> Any:
    """Return the rules of the edition that holds at a time, or None."""
    found = None
    for start, rules in editions or ():
        if start > at:
            break
        found = rules
    return found
