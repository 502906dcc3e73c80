"""Project provider and price events to the price catalog's read tables."""

from collections.abc import Sequence
from uuid import UUID

from projections.engine.projector import Projector
from projections.price_catalog.contract_table import (
    insert_contracts,
    select_known_contracts,
    supersede_contracts,
)
from projections.price_catalog.contract_timeline import ContractTimeline
from projections.price_catalog.table import (
    ModelRow,
    ProviderRow,
    insert_prices,
    insert_providers,
    move_change,
    select_known_prices,
    select_models,
    supersede_prices,
    upsert_models,
)
from projections.price_catalog.timeline import Timeline
from service.database import Db
from service.event_log.mapper import RecordedEvent
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.provider import Provider

CONTRACT_EVENTS = (
    Provider.ContractSet,
    Provider.ContractEnded,
    Provider.ContractCorrected,
)


class ProviderCatalogProjector(Projector):
    name = "provider_catalog"
    events = (
        Provider.Created,
        *CONTRACT_EVENTS,
        ModelPricing.Created,
        ModelPricing.PriceSet,
        ModelPricing.PriceEnded,
        ModelPricing.PriceCorrected,
        ModelPricing.PriceAnnotated,
    )

    async def project(self, db: Db, events: Sequence[RecordedEvent]) -> None:
        await insert_providers(
            db, [_provider(recorded) for recorded in events if _is_provider(recorded)]
        )
        of_models = []
        of_contracts = []
        for recorded in events:
            if isinstance(recorded.event, CONTRACT_EVENTS):
                of_contracts.append(recorded)
            elif not _is_provider(recorded):
                of_models.append(recorded)
        models, timelines = await _load(db, of_models)
        for recorded in of_models:
            if isinstance(recorded.event, ModelPricing.Created):
                models[recorded.aggregate_id] = _model(recorded)
                timelines[recorded.aggregate_id] = Timeline(recorded.position)
            else:
                models[recorded.aggregate_id].version = recorded.version
                timelines[recorded.aggregate_id].apply(recorded)
        await upsert_models(db, models.values())
        # First: the table's constraint forbids overlaps even in between.
        await supersede_prices(
            db, [row for model in timelines.values() for row in model.superseded]
        )
        await insert_prices(
            db, [row for model in timelines.values() for row in model.added]
        )
        if of_contracts:
            await _project_contracts(db, of_contracts)
        await move_change(db, events[-1].position)


async def _project_contracts(db: Db, events: Sequence[RecordedEvent]) -> None:
    timelines = {event.aggregate_id: ContractTimeline() for event in events}
    for row in await select_known_contracts(db, list(timelines)):
        timelines[row.provider_id].load(row)
    for recorded in events:
        timelines[recorded.aggregate_id].apply(recorded)
    await supersede_contracts(
        db, [row for timeline in timelines.values() for row in timeline.superseded]
    )
    await insert_contracts(
        db, [row for timeline in timelines.values() for row in timeline.added]
    )


async def _load(
    db: Db, events: Sequence[RecordedEvent]
) -> tuple[dict[UUID, ModelRow], dict[UUID, Timeline]]:
    ids = list(dict.fromkeys(event.aggregate_id for event in events))
    models = await select_models(db, ids)
    timelines = {model.id: Timeline(model.number) for model in models.values()}
    for row in await select_known_prices(db, ids):
        timelines[row.model_id].load(row)
    return models, timelines


def _is_provider(recorded: RecordedEvent) -> bool:
    return isinstance(recorded.event, Provider.Created)


def _provider(recorded: RecordedEvent) -> ProviderRow:
    return ProviderRow(
        id=recorded.aggregate_id,
        key=recorded.event.key,
        display_name=recorded.event.display_name,
    )


def _model(recorded: RecordedEvent) -> ModelRow:
    return ModelRow(
        id=recorded.aggregate_id,
        number=recorded.position,
        provider_id=UUID(recorded.event.provider_id),
        name=recorded.event.model,
        version=recorded.version,
    )
