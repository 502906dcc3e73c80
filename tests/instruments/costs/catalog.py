"""A price list in memory, as the catalog that a call is priced by."""

from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.event_log.finder import A
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.imports.price_list import Import
from service.price_catalog.imports.reconcile import reconcile
from service.price_catalog.match_rules import MatchRules
from service.price_catalog.periods import Provenance
from service.price_catalog.pricing import RULES_SOURCE
from service.price_catalog.provider import Provider

IMPORTED_AT = datetime(2026, 11, 20, tzinfo=UTC)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


class ImportedCatalog:
    """All models of a price list, held ones too."""

    def __init__(self, source: Import) -> None:
        listed: Provenance = {
            "name": source.source.name,
            "version": source.source.version,
            "sha256": source.source.sha256,
        }
        self._of: dict[UUID, LoggedAggregate] = {}
        for model in (*source.models, *(held.model for held in source.held)):
            pricing = ModelPricing(
                provider_id=str(Provider.create_id(model.provider)),
                provider_key=model.provider,
                model=model.model,
            )
            reconcile(pricing, model, listed, now=IMPORTED_AT, undated_since=LONG_AGO)
            self._keep([pricing])
        if source.rules:
            rules = MatchRules(source=RULES_SOURCE)
            rules.replace(source.rules, listed, now=IMPORTED_AT)
            self._keep([rules])

    def _keep(self, aggregates: Iterable[LoggedAggregate]) -> None:
        self._of |= {aggregate.id: aggregate for aggregate in aggregates}

    async def find(self, kind: type[A], aggregate_id: UUID) -> A | None:
        found = self._of.get(aggregate_id)
        return found if isinstance(found, kind) else None
