"""A page of the session list by the same SQL, in a bare handler, rendered in Python.

Run as a program: ``python -m tests.instruments.bench.page DATABASE_URL``.
"""

import sys
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import uvloop
from aiohttp import web
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from projections.sessions.queries import (
    PageRequest,
    full_page_statement,
    page_parameters,
)
from service.database import service_conninfo
from tests.instruments.bench.bare import serve

LIMIT = 25
WINDOW = timedelta(days=7)
NOBODY = UUID(int=0)
POOL = web.AppKey("pool", AsyncConnectionPool[AsyncConnection[Any]])


async def get_page(request: web.Request) -> web.Response:
    asked = PageRequest(
        caller=NOBODY,
        everything=True,
        window_start=datetime.now(UTC) - WINDOW,
        limit=LIMIT + 1,
    )
    async with request.app[POOL].connection() as db:
        cursor = db.cursor(row_factory=dict_row)
        await cursor.execute(full_page_statement(asked), page_parameters(asked))
        rows = await cursor.fetchall()
    body = {
        "data": {
            "sessions": [_rendered(row) for row in rows[:LIMIT] if not row["is_empty"]]
        },
        "message": "sessions in the window",
        "status_code": 200,
    }
    return web.Response(body=orjson.dumps(body), content_type="application/json")


def _rendered(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **orjson.loads(row["rendered"]),
        "first_input": row["sealed_input"],
        "first_input_truncated": row["input_truncated"],
        "last_output": row["sealed_output"],
        "last_output_truncated": row["output_truncated"],
        "session_annotations": [],
        "session_annotation_summaries": [],
        "trace_store": "not_configured",
    }


async def serve_pages(database_url: str) -> None:
    async with AsyncConnectionPool(
        service_conninfo(database_url), kwargs={"autocommit": True}, max_size=10
    ) as pool:
        app = web.Application()
        app[POOL] = pool
        app.router.add_get("/api/observability/session/list", get_page)
        await serve(app)


if __name__ == "__main__":
    uvloop.run(serve_pages(sys.argv[1]))
