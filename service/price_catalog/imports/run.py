"""Import a price list, in batches of models."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

from psycopg.errors import UndefinedTable

from service.database import Pool
from service.errors import InvalidRequestError
from service.event_log.absences import RememberedAbsences
from service.event_log.execute import Authenticate, execute
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from service.identifiers import named_id
from service.pacing import Pace
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.imports.price_list import Import, ImportedModel
from service.price_catalog.imports.reconcile import (
    HeldBecause,
    Reconciled,
    reconcile,
)
from service.price_catalog.imports.report import (
    ImportOutcome,
    ImportReport,
    ModelResult,
)
from service.price_catalog.match_rules import MatchRules
from service.price_catalog.periods import Provenance
from service.price_catalog.policy import refuse_unless_may_price
from service.price_catalog.provider import Provider

BATCH_MODELS = 200
MODELS_MAX = 20_000
CONFIRM_ALL = "all"
SYSTEM: Mapping[str, str] = {"actor": "system"}
# Key of the lock that lets one import run at a time in a process.
IMPORT_LOCK = named_id("turn", "price import")
# Read from the read tables, which may lag behind the log: for the report alone.
MODELS_OF_SOURCE = """
    SELECT DISTINCT v.key || '/' || m.name AS model
      FROM read.model_price p
      JOIN read.catalog_model m ON m.id = p.model_id
      JOIN read.catalog_provider v ON v.id = m.provider_id
     WHERE p.known_until IS NULL
       AND p.effective_until IS NULL
       AND p.source_name = %s
     ORDER BY model
"""

Progress = Callable[[int, int], None]
"""Called after each batch with the numbers of models done and in total."""


class LogAndPool(Protocol):
    """The resources of the process that an import needs."""

    @property
    def log(self) -> EventLog: ...

    @property
    def pool(self) -> Pool: ...


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
    """Update the catalog from a price list and report every difference.

    Each batch of models is one command: it is applied as a whole or not at all.
    Importing the same list again appends nothing. Held models stay unchanged unless
    ``confirm`` names them as ``provider/model`` or is ``["all"]``; the report tells
    the names that no held model has. A price that was set manually is never
    overwritten. Prices without a date in the list start at
    ``undated_since``, by default now. Because an import takes a while, every batch
    authenticates the caller again.

    :raises InvalidRequestError: the list has more than ``MODELS_MAX`` models
    """
    doubtful = frozenset(held.model.key for held in source.held)
    models = sorted(
        [*source.models, *(held.model for held in source.held)],
        key=lambda model: (model.provider, model.model),
    )
    if len(models) > MODELS_MAX:
        raise InvalidRequestError(f"a price list has at most {MODELS_MAX} models")
    provenance: Provenance = {
        "name": source.source.name,
        "version": source.source.version,
        "sha256": source.source.sha256,
    }
    confirmed = frozenset(filter(None, map(str.strip, confirm)))
    report = ImportReport(
        source=provenance,
        dry_run=dry_run,
        at=datetime.now(UTC),
        skipped=source.skipped,
        confirmed=confirmed - {CONFIRM_ALL},
    )
    async with resources.log.lock(IMPORT_LOCK):
        for start in range(0, len(models), BATCH_MODELS):
            batch = models[start : start + BATCH_MODELS]

            async def decide(
                work: UnitOfWork, batch: Sequence[ImportedModel] = batch
            ) -> list[ModelResult]:
                if authenticate is not None:
                    refuse_unless_may_price(work.principal)
                return await _import_batch(
                    work,
                    batch,
                    provenance,
                    dry_run=dry_run,
                    doubtful=doubtful,
                    confirmed=confirmed,
                    undated_since=undated_since or report.at,
                )

            absent = await resources.log.preload(
                {ModelPricing.create_id(model.provider, model.model) for model in batch}
                | {Provider.create_id(model.provider) for model in batch}
            )
            results, appended = await execute(
                RememberedAbsences(resources.log, absent),
                decide,
                metadata=metadata,
                at=report.at,
                authenticate=authenticate,
            )
            report.results += results
            if appended is not None:
                report.position = appended.position
            if progress is not None:
                progress(len(report.results), len(models))
        if source.rules:
            report.match_rules_changed = await _import_rules(
                resources.log,
                source,
                provenance,
                report=report,
                metadata=metadata,
                authenticate=authenticate,
            )
    # A row that was refused is there.
    listed = {model.key for model in models} | {
        f"{row.provider}/{row.model}" for row in report.skipped
    }
    known = await _models_of_source(resources.pool, provenance["name"])
    report.vanished = [key for key in known if key not in listed]
    return report


async def _import_rules(
    log: EventLog,
    source: Import,
    provenance: Provenance,
    *,
    report: ImportReport,
    metadata: Mapping[str, str],
    authenticate: Authenticate | None,
) -> list[str]:
    """Make the match rules those of the list, and return the providers that changed."""

    async def decide(work: UnitOfWork) -> list[str]:
        if authenticate is not None:
            refuse_unless_may_price(work.principal)
        rules_id = MatchRules.create_id(provenance["name"])
        rules = await work.find(MatchRules, rules_id)
        rules = rules or MatchRules(source=provenance["name"])
        changed = rules.replace(source.rules, provenance, now=work.at)
        if changed and not report.dry_run:
            work.save(rules)
        return changed

    changed, appended = await execute(
        log, decide, metadata=metadata, at=report.at, authenticate=authenticate
    )
    if appended is not None:
        report.position = appended.position
    return changed


async def _import_batch(
    work: UnitOfWork,
    batch: Sequence[ImportedModel],
    source: Provenance,
    *,
    dry_run: bool,
    doubtful: frozenset[str],
    confirmed: frozenset[str],
    undated_since: datetime,
) -> list[ModelResult]:
    results: list[ModelResult] = []
    providers: dict[str, Provider] = {}
    pace = Pace()
    for model in batch:
        await pace.pause()
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
        result = _result(
            model,
            found,
            is_new=known is None,
            is_doubtful=model.key in doubtful,
            is_confirmed=CONFIRM_ALL in confirmed or model.key in confirmed,
        )
        results.append(result)
        if (
            result.outcome in {ImportOutcome.ADDED, ImportOutcome.CHANGED}
            and not dry_run
        ):
            if provider.pending_events:
                work.save(provider)
            work.save(pricing)
            providers[model.provider] = provider
    return results


async def _provider(work: UnitOfWork, model: ImportedModel) -> Provider:
    known = await work.find(Provider, Provider.create_id(model.provider))
    return known or Provider(key=model.provider, display_name=model.provider_name)


def _result(
    model: ImportedModel,
    found: Reconciled,
    *,
    is_new: bool,
    is_doubtful: bool,
    is_confirmed: bool,
) -> ModelResult:
    reasons = found.held_because
    if is_doubtful:
        reasons = (*reasons, HeldBecause.ZERO_PRICE)
    is_applied_anyway = False
    if not found.changes:
        outcome, reasons = ImportOutcome.UNCHANGED, ()
    elif HeldBecause.MANUAL_PRICE in reasons:
        outcome, reasons = ImportOutcome.HELD, (HeldBecause.MANUAL_PRICE,)
    elif reasons and not is_confirmed:
        outcome = ImportOutcome.HELD
    else:
        is_applied_anyway = bool(reasons)
        outcome, reasons = ImportOutcome.ADDED if is_new else ImportOutcome.CHANGED, ()
    return ModelResult(
        provider=model.provider,
        model=model.model,
        outcome=outcome,
        changes=found.changes,
        held_because=reasons,
        is_confirmed=is_applied_anyway,
    )


async def _models_of_source(pool: Pool, source_name: str) -> list[str]:
    """Return the models, as ``provider/model``, with an open price of a list."""
    async with pool.connection() as db:
        try:
            cursor = await db.execute(MODELS_OF_SOURCE, [source_name])
        except UndefinedTable:
            return []
        return [key for (key,) in await cursor.fetchall()]
