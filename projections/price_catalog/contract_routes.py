"""Contract prices over HTTP."""

from typing import Annotated, Self

from aiohttp import web
from pydantic import AfterValidator, Field, model_validator
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.engine.time_travel import as_of
from projections.price_catalog.cache import FOLLOWER
from projections.price_catalog.contracts import KnownContract, contract_prices
from projections.price_catalog.history_routes import (
    PAGE_SIZE_MAX,
    cursor_of,
    is_cursor,
    read_cursor,
)
from service.http.app_keys import EVENT_LOG
from service.http.as_of import At
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import QueryModel
from service.http.validation_errors import fault_at

routes = Routes("llm-router")


class ContractsQuery(QueryModel):
    provider: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    history: Annotated[
        bool,
        Field(description="With records that were corrected, replaced or ended since."),
    ] = False
    at: At | None = None
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = 100
    after: Annotated[str, AfterValidator(is_cursor)] | None = None

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if self.history and self.at is not None:
            raise fault_at("at", "can't be combined with history")
        return self


class ContractPrices(TypedDict):
    prices: list[KnownContract]
    end_cursor: str | None


@routes.get(
    "/api/llm-router/contracts",
    answers={200: "contract prices"},
    min_position=True,
)
async def get_contracts(
    request: web.Request, query: ContractsQuery
) -> Answer[ContractPrices]:
    """List contract prices.

    Past, present and future ones, of all providers or of `provider` and `model`, as
    they are known now or were known `at` a time or a position of the log; with
    `history`, also records that were corrected, replaced or ended since. In the order
    of recording.
    """
    async with reading(request, FOLLOWER) as snapshot:
        known = None
        if query.at is not None:
            mapper = request.app[EVENT_LOG].mapper
            known = (await as_of(snapshot.db, mapper, query.at)).position
        after = read_cursor(query.after) if query.after else None
        found = await contract_prices(
            snapshot.db,
            {
                "provider": query.provider,
                "model": query.model,
                "current": known is None and not query.history,
                "known": known,
                "after_known": after[0] if after else None,
                "after_from": after[1] if after else None,
                "limit": query.limit + 1,
            },
        )
    page = page_of(found, query.limit, cursor_of)
    return Answer(
        message="contract prices",
        data={"prices": page.rows, "end_cursor": page.end_cursor},
        headers=snapshot.headers,
    )
