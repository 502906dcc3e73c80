"""The history of a model's prices over HTTP."""

import re
from datetime import datetime
from typing import Annotated

from aiohttp import web
from pydantic import AfterValidator, Field

from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.engine.time_travel import as_of
from projections.price_catalog.cache import FOLLOWER
from projections.price_catalog.contracts import KnownContract
from projections.price_catalog.history import (
    KnownPrice,
    PricedModel,
    price_history,
    priced_model,
)
from service.errors import NotFoundError
from service.http.app_keys import EVENT_LOG
from service.http.as_of import At
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import POSITION_MAX, QueryModel
from service.price_catalog.aggregate import ModelPricing

routes = Routes("llm-router")

PAGE_SIZE_MAX = 500
_CURSOR = re.compile(r"(\d{1,19})@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00)")


def is_cursor(text: str) -> str:
    if read_cursor(text) is None:
        raise ValueError("not the end_cursor of an earlier answer")
    return text


class HistoryQuery(QueryModel):
    provider: Annotated[
        str, Field(min_length=1, max_length=128, description="The provider's key.")
    ]
    model: Annotated[
        str, Field(min_length=1, max_length=256, description="The model's name.")
    ]
    at: At | None = None
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = 100
    after: Annotated[str, AfterValidator(is_cursor)] | None = None


class PriceHistory(PricedModel):
    prices: list[KnownPrice]
    end_cursor: str | None


@routes.get(
    "/api/llm-router/prices",
    answers={200: "prices of the model", 404: "no such model"},
    min_position=True,
)
async def get_prices(request: web.Request, query: HistoryQuery) -> Answer[PriceHistory]:
    """List all prices ever recorded for a model.

    In the order of recording: past, present and future prices, and corrected ones. With
    `at`, a time or a position of the log, only what was known then.
    """
    model_id = ModelPricing.create_id(query.provider, query.model)
    async with reading(request, FOLLOWER) as snapshot:
        known = None
        if query.at is not None:
            mapper = request.app[EVENT_LOG].mapper
            known = (await as_of(snapshot.db, mapper, query.at)).position
        model = await priced_model(snapshot.db, model_id)
        if model is None:
            raise NotFoundError("no such model")
        prices = await price_history(
            snapshot.db,
            model_id,
            known=known,
            after=read_cursor(query.after) if query.after else None,
            limit=query.limit + 1,
        )
    page = page_of(prices, query.limit, cursor_of)
    return Answer(
        message="prices of the model",
        data=PriceHistory(
            **model,
            prices=page.rows,
            end_cursor=page.end_cursor,
        ),
        headers=snapshot.headers,
    )


def cursor_of(price: KnownPrice | KnownContract) -> str:
    since = price["effective_from"].isoformat(timespec="microseconds")
    return f"{price['known_from']}@{since}"


def read_cursor(text: str) -> tuple[int, datetime] | None:
    match = _CURSOR.fullmatch(text)
    if match is None or int(match[1]) > POSITION_MAX:
        return None
    try:
        return int(match[1]), datetime.fromisoformat(match[2])
    except ValueError:
        return None
