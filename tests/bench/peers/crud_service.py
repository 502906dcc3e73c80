"""The service that an engineer would write instead: no events, an audit table.

Run as a program: ``python -m tests.bench.peers.crud_service DATABASE_URL``. A request
checks its token and body, updates one row and inserts another, in one transaction.
"""

import sys
from hashlib import sha256
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
import uvloop
from aiohttp import web
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tests.bench.bare import serve

POOL_SIZE = 20
POOL = web.AppKey("pool", AsyncConnectionPool[AsyncConnection[Any]])
TABLES = """
    CREATE TABLE api_token (hash bytea PRIMARY KEY, user_id uuid NOT NULL);
    CREATE TABLE agent_rules (
           agent_id uuid PRIMARY KEY, manager_id uuid NOT NULL,
           version bigint NOT NULL, rules jsonb NOT NULL, updated_at timestamptz);
    CREATE TABLE audit (
           id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
           at timestamptz NOT NULL DEFAULT now(), user_id uuid NOT NULL,
           agent_id uuid NOT NULL, action text NOT NULL, detail jsonb NOT NULL)
"""
UPDATE = """
    UPDATE agent_rules r
       SET rules = %(rules)s::jsonb, version = r.version + 1, updated_at = now()
      FROM api_token t
     WHERE r.agent_id = %(agent)s AND r.manager_id = t.user_id AND t.hash = %(hash)s
 RETURNING r.version, t.user_id
"""
AUDIT = """
    INSERT INTO audit (user_id, agent_id, action, detail)
    VALUES (%(user)s, %(agent)s, 'rules replaced', %(rules)s::jsonb)
"""


class Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    connector_id: UUID
    tool_pattern: Annotated[str, Field(min_length=1, max_length=200)]
    stance: Literal["allow", "ask", "deny"]


class Rules(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rules: Annotated[list[Rule], Field(max_length=1000)]


async def replace_rules(request: web.Request) -> web.Response:
    try:
        agent = UUID(request.match_info["agent_id"])
        body = Rules.model_validate_json(await request.read())
    except (ValidationError, ValueError) as error:
        raise web.HTTPUnprocessableEntity(text=str(error)) from error
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    rules = body.model_dump(mode="json")["rules"]
    given = {
        "agent": agent,
        "rules": orjson.dumps(rules).decode(),
        "hash": sha256(token.encode()).digest(),
    }
    async with request.app[POOL].connection() as db, db.transaction():
        row = await (await db.execute(UPDATE, given)).fetchone()
        if row is None:
            raise web.HTTPForbidden
        version, user = row
        await db.execute(AUDIT, {**given, "user": user})
    answer = {"agent_id": str(agent), "version": version, "rules": rules}
    return web.Response(body=orjson.dumps(answer), content_type="application/json")


async def serve_rules(database_url: str) -> None:
    async with AsyncConnectionPool(
        database_url,
        kwargs={"autocommit": True},
        min_size=POOL_SIZE,
        max_size=POOL_SIZE,
    ) as pool:
        app = web.Application()
        app[POOL] = pool
        app.router.add_put("/api/mcp/agents/{agent_id}/tools", replace_rules)
        await serve(app)


if __name__ == "__main__":
    uvloop.run(serve_rules(sys.argv[1]))
