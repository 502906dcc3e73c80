"""Import a published price list, many models in one command."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from service.errors import InvalidRequestError
from service.event_log.execute import Authenticate, execute
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.identifiers import named_id
from service.price_catalog.aggregate import ModelPricing, Provider
from service.price_catalog.importers.price_rows import Import, ImportedModel
from service.price_catalog.periods import Provenance
from service.price_catalog.policy import refuse_unless_may_price
from service.price_catalog.price_import import (
    CONFIRM_ALL,
    HeldBecause,
    ImportOutcome,
    ImportReport,
    ModelOutcome,
    Progress,
)
from service.price_catalog.reconcile import Reconciled, reconcile
from service.price_catalog.vanished import vanished_models

BATCH_MODELS = 200
MODELS_MAX = 20_000
SYSTEM: Mapping[str, str] = {"actor": "system"}
# One import at a time in a process; others wait their turn.
TURN = named_id("turn", "price import")


class LogAndPool(Protocol):
    """What an import needs of a process's resources."""

    @property
    def log(self) -> EventLog: ...

    @property
    def pool(self) -> AsyncConnectionPool[AsyncConnection[Any]]: ...


@dataclass(frozen=True, slots=True)
class _Listed:
    model: ImportedModel
    is_doubtful: bool


async def import_prices(
    resources: LogAndPool,
    source: Import,
    *,
    dry_run: bool = False,
    confirm: Collection[str] = (),
    progress: Progress | None = None,
    undated_since: datetime | None = None,
    metadata: Mapping[str, str] = SYSTEM,
    authenticate: Authenticate | None = None,
) -> ImportReport:
    """Bring the catalog to what a price list says and report every difference.

    Each batch of models is one command: it happens whole or not at all, and a
    second run of the same list appends nothing. Held models stay as they are unless
    ``confirm`` names them as ``provider/model``, or is ``["all"]``; a price set by
    hand is never overwritten. Prices that the list doesn't date count from
    ``undated_since``, by default from now. An import takes a while, so every batch
    reads the caller afresh.

    :raises InvalidRequestError: the list has more than ``MODELS_MAX`` models
    """
    listed = _listed(source)
    if len(listed) > MODELS_MAX:
        raise InvalidRequestError(f"a price list has at most {MODELS_MAX} models")
    report = ImportReport(
        source=_provenance(source),
        dry_run=dry_run,
        at=datetime.now(UTC),
        skipped=source.skipped,
    )
    confirmed = frozenset(confirm)
    async with resources.log.turn(TURN):
        for batch in _batches(listed):

            async def decide(
                work: UnitOfWork, batch: Sequence[_Listed] = batch
            ) -> list[ModelOutcome]:
                if authenticate is not None:
                    refuse_unless_may_price(work.principal)
                return await _import_batch(
                    work,
                    batch,
                    report.source,
                    dry_run=dry_run,
                    confirmed=confirmed,
                    undated_since=undated_since or report.at,
                )

            outcomes, appended = await execute(
                resources.log,
                decide,
                metadata=metadata,
                at=report.at,
                authenticate=authenticate,
            )
            report.outcomes += outcomes
            if appended is not None:
                report.position = appended.position
            if progress is not None:
                progress(len(report.outcomes), len(listed))
    report.vanished = await vanished_models(
        resources.pool, report.source["name"], {each.key for each in report.outcomes}
    )
    return report


async def _import_batch(
    work: UnitOfWork,
    batch: Sequence[_Listed],
    source: Provenance,
    *,
    dry_run: bool,
    confirmed: frozenset[str],
    undated_since: datetime,
) -> list[ModelOutcome]:
    outcomes: list[ModelOutcome] = []
    providers: dict[str, Provider] = {}
    for listed in batch:
        model = listed.model
        provider = providers.get(model.provider) or await _provider(work, model)
        known = await work.find(
            ModelPricing, ModelPricing.create_id(model.provider, model.model)
        )
        pricing = known or ModelPricing(
            provider_id=str(provider.id),
            provider_key=model.provider,
            model=model.model,
        )
        found = reconcile(
            pricing, model, source, now=work.at, undated_since=undated_since
        )
        outcome = _outcome(listed, found, is_new=known is None, confirmed=confirmed)
        outcomes.append(outcome)
        if outcome.fate in {ImportOutcome.ADDED, ImportOutcome.CHANGED} and not dry_run:
            if provider.pending_events:
                work.save(provider)
            work.save(pricing)
            providers[model.provider] = provider
    return outcomes


async def _provider(work: UnitOfWork, model: ImportedModel) -> Provider:
    known = await work.find(Provider, Provider.create_id(model.provider))
    return known or Provider(key=model.provider, display_name=model.provider_name)


def _outcome(
    listed: _Listed, found: Reconciled, *, is_new: bool, confirmed: frozenset[str]
) -> ModelOutcome:
    reasons = found.held_because
    if listed.is_doubtful:
        reasons = (*reasons, HeldBecause.ZERO_PRICE)
    key = f"{listed.model.provider}/{listed.model.model}"
    is_confirmed = CONFIRM_ALL in confirmed or key in confirmed
    if not found.changes:
        fate, reasons = ImportOutcome.UNCHANGED, ()
    elif HeldBecause.MANUAL_PRICE in reasons:
        fate, reasons = ImportOutcome.HELD, (HeldBecause.MANUAL_PRICE,)
    elif reasons and not is_confirmed:
        fate = ImportOutcome.HELD
    else:
        fate, reasons = ImportOutcome.ADDED if is_new else ImportOutcome.CHANGED, ()
    return ModelOutcome(
        provider=listed.model.provider,
        model=listed.model.model,
        fate=fate,
        changes=found.changes,
        held_because=reasons,
    )


def _listed(source: Import) -> list[_Listed]:
    sure = [_Listed(model, is_doubtful=False) for model in source.models]
    doubtful = [_Listed(held.model, is_doubtful=True) for held in source.held]
    return sorted(
        [*sure, *doubtful], key=lambda each: (each.model.provider, each.model.model)
    )


def _batches(listed: Sequence[_Listed]) -> Iterator[Sequence[_Listed]]:
    for start in range(0, len(listed), BATCH_MODELS):
        yield listed[start : start + BATCH_MODELS]


def _provenance(source: Import) -> Provenance:
    return {
        "name": source.source.name,
        "version": source.source.version,
        "sha256": source.source.sha256,
    }
