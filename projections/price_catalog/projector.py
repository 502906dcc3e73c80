"""Project provider and price events to the price catalog's read tables."""

from collections.abc import Sequence
from uuid import UUID

from projections.engine.projector import Projector
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


class ProviderCatalogProjector(Projector):
    name = "provider_catalog"
    events = (
        Provider.Created,
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
        of_models = [event for event in events if not _is_provider(event)]
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
        await move_change(db, events[-1].position)


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
