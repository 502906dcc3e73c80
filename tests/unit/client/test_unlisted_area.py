"""An area of the API that no list of the client's generator names."""

import ast
from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from client.generator.document import described
from client.generator.names import description_of
from client.generator.resources import area_module
from client.generator.text import WIDTH
from client.generator.types import Types
from service.http.envelope import Answer
from service.http.openapi.document import document
from service.http.operation import Routes
from service.http.requests import QueryModel, RequestModel

WORDS = (
    "What operators tell the users of the service, such as when it will be down, and "
    "who has read it."
)
routes = Routes("notices", WORDS)


class NoticeBody(RequestModel):
    text: str


class NoticeQuery(QueryModel):
    after: UUID | None = None


class Notice(TypedDict):
    id: UUID
    text: str


class NoticeList(TypedDict):
    notices: list[Notice]
    end_cursor: UUID | None


@routes.get("/api/notices", answers={200: "notices"})
async def get_notices(_request: web.Request, query: NoticeQuery) -> Answer[NoticeList]:
    """List the notices."""
    raise NotImplementedError(query)


@routes.post("/api/notices", answers={201: "notice created"})
async def post_notice(_request: web.Request, body: NoticeBody) -> Answer[Notice]:
    """Create a notice."""
    raise NotImplementedError(body)


@routes.get("/api/notices/{notice_id}", answers={200: "the notice"})
async def get_notice(_request: web.Request, notice_id: UUID) -> Answer[Notice]:
    """Get a notice."""
    raise NotImplementedError(notice_id)


def test_it_is_named_after_its_path_and_described_by_its_tag() -> None:
    whole = document(routes.operations, {"operations": {}, "refusals": {}})
    types = Types(whole["components"]["schemas"])
    found = described(whole, types)
    words = description_of("notices", whole["tags"])

    module = area_module("notices", words, found, types)

    (resource,) = [
        each for each in ast.parse(module).body if isinstance(each, ast.ClassDef)
    ]
    methods = [
        each.name
        for each in resource.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    head = ast.get_docstring(ast.parse(module)) or ""
    assert {each.area for each in found} == {"notices"}
    assert resource.name == "AsyncNoticesResource"
    assert methods == ["__init__", "list", "create", "get"]
    assert head.split() == (ast.get_docstring(resource) or "").split() == WORDS.split()
    assert max(map(len, head.splitlines())) <= WIDTH
