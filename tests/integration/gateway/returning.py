"""Upstreams that make their answers of the credential that they were sent."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import SecretStr

from service.secrets.sent import Credential
from tests.integration.gateway.plain_upstream import (
    Answer,
    PlainUpstream,
    answered,
    plain_upstream,
)
from tests.integration.gateway.stage import Stage, opened
from tests.integration.secrets.test_leaks import encodings, new_mark


def new_value() -> str:
    return f"Bearer {new_mark()}/{new_mark()}"


def credential(value: str, header: str = "Authorization") -> Credential:
    async def reveal() -> SecretStr:
        return SecretStr(value)

    return Credential(header=header, reveal=reveal)


def received(request: web.Request) -> str:
    return request.headers["Authorization"]


@dataclass
class Lent:
    """An agent's connector with a credential, at an upstream that a test writes."""

    value: str
    upstream: PlainUpstream
    stage: Stage

    def assert_clean(self, text: str) -> None:
        _, _, secret = self.value.partition(" ")
        for each in {self.value, secret, *secret.split("/")}:
            assert each not in text
        assert all(
            spelled.decode("latin-1") not in text
            for each in secret.split("/")
            for those in encodings(each).values()
            for spelled in those
        )


@asynccontextmanager
async def lent(
    answer: Answer, value: str | None = None, header: str = "Authorization"
) -> AsyncIterator[Lent]:
    value = value or new_value()
    async with plain_upstream(answer) as upstream, opened() as stage:
        made = stage.gate.connect(upstream.url, "add")
        stage.gate.change(made, credential=credential(value, header))
        yield Lent(value, upstream, stage)


def reflecting(result: Callable[[str], Any]) -> Answer:
    """Answer a result that is made of the header."""

    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        return answered(body, result(received(request)))

    return answer


def text_of(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def lists(*tools: Callable[[str], Mapping[str, Any]], **more: Any) -> Answer:
    return reflecting(
        lambda got: {
            "resultType": "complete",
            "tools": [make(got) for make in tools],
            **more,
        }
    )


def schema(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def clean_tool(name: str) -> Callable[[str], Mapping[str, Any]]:
    return lambda _: {"name": name, "inputSchema": {"type": "object"}}
