"""Importing price lists over HTTP."""

from functools import partial
from typing import Annotated, Any

import orjson
from aiohttp import web
from pydantic import Field

from service.errors import UnsupportedMediaTypeError
from service.http.authentication import PRINCIPAL, authenticate_again
from service.http.body import read_upload, uploading
from service.http.dispatch import request_metadata
from service.http.envelope import Answer, to_json
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.own_writes import remember_write
from service.http.requests import QueryModel
from service.http.times import Timestamp
from service.identifiers import named_id
from service.pacing import in_thread, next_turn
from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from service.price_catalog.imports.litellm.importer import (
    DOCUMENT_BYTES_MAX,
    import_litellm,
)
from service.price_catalog.imports.price_list import Import
from service.price_catalog.imports.report import (
    ImportReport,
    ImportReportResource,
    import_report_resource,
)
from service.price_catalog.imports.run import LogAndPool, import_prices
from service.price_catalog.policy import refuse_unless_may_price

routes = Routes("llm-router")

IMPORT_RESOURCES: web.AppKey[LogAndPool] = web.AppKey("import_resources")
UPLOAD_LOCK = named_id("turn", "price list upload")
# A price list is larger than other bodies.
UPLOAD_TIMES = 2
ANSWERS = {
    200: "prices imported, or with dry_run: what an import would change",
    403: "the caller is not a superuser",
}


class ImportQuery(QueryModel):
    dry_run: bool = False
    confirm: Annotated[str | None, Field(max_length=8000)] = None
    undated_since: Timestamp | None = None

    @property
    def confirmed(self) -> list[str]:
        return (self.confirm or "").split(",")


class LiteLLMImportQuery(ImportQuery):
    version: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=100,
            description="The release or commit that the file is from.",
        ),
    ] = None


@routes.post(
    "/api/llm-router/prices/imports/genai-prices",
    answers={
        **ANSWERS,
        503: "the package genai-prices isn't installed (`price_source_missing`)",
    },
    idempotent_key=False,
)
async def post_genai_prices_import(
    request: web.Request, query: ImportQuery
) -> Answer[ImportReportResource]:
    """Import the prices of the installed package genai-prices.

    With `dry_run` nothing is changed; the answer is the same. A repeated import
    changes nothing. These changes are held back until `confirm` lists their models
    as `provider/model`, separated by commas, or is `all`: a price that rises or
    falls more than fivefold or becomes 0, also of cached, long or batched model
    calls or at some hours; one that is dropped, of any unit or condition; a price
    by which a usual model call, or some tokens, seconds or images alone, cost more
    than 10; a change in the past, and a change of a price that has ended or came
    from another list. A price that has a start in the list ends an open one there
    without confirmation, also in the past. Prices set by hand are never
    overwritten. Models that the list no longer contains are only reported. A price
    without a date is effective from `undated_since`, by default from now.
    """
    refuse_unless_may_price(request[PRINCIPAL])
    return await _import(request, query, await in_thread(import_genai_prices))


@routes.post(
    "/api/llm-router/prices/imports/litellm",
    answers={
        **ANSWERS,
        413: f"the file has more than {DOCUMENT_BYTES_MAX} bytes",
        415: "the body is not uncompressed application/json",
        422: "the body is not a LiteLLM price file (`invalid_price_source`)",
        503: "the body took more than 60 s to arrive (`upload_too_slow`), or the "
        "service is temporarily unavailable",
    },
    idempotent_key=False,
    raw_body=("application/json",),
)
async def post_litellm_import(
    request: web.Request, query: LiteLLMImportQuery
) -> Answer[ImportReportResource]:
    """Import a LiteLLM price file.

    Takes an unchanged `model_prices_and_context_window.json` of up to 16 MiB. The
    file has no version: name its release or commit in `version`. Everything else is as
    for the import of genai-prices.
    """
    refuse_unless_may_price(request[PRINCIPAL])
    if request.content_type != "application/json":
        raise UnsupportedMediaTypeError("the body must be application/json")
    # One file at a time in memory; the next caller's stays in their hands.
    async with request.app[IMPORT_RESOURCES].log.lock(UPLOAD_LOCK):
        async with uploading(request, times=UPLOAD_TIMES):
            document = await read_upload(request, DOCUMENT_BYTES_MAX)
        listed = await in_thread(import_litellm, document, version=query.version)
    return await _import(request, query, listed)


async def _import(
    request: web.Request, query: ImportQuery, listed: Import
) -> Answer[ImportReportResource]:
    report = await import_prices(
        request.app[IMPORT_RESOURCES],
        listed,
        dry_run=query.dry_run,
        confirm=query.confirmed,
        undated_since=query.undated_since,
        metadata=request_metadata(request),
        authenticate=partial(authenticate_again, request),
    )
    headers = {}
    if report.position is not None:
        remember_write(request, report.position)
        headers[POSITION_HEADER] = str(report.position)
    # In a thread: a report may have tens of thousands of models.
    data: Any = await in_thread(_rendered, report)
    # To let go of the report and its list takes some milliseconds too.
    await next_turn()
    return Answer(
        message="prices compared" if query.dry_run else "prices imported",
        data=data,
        headers=headers,
    )


def _rendered(report: ImportReport) -> orjson.Fragment:
    return orjson.Fragment(to_json(import_report_resource(report)))
