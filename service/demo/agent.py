"""An agent of the demo: calls tools through the gateway, as any MCP client does."""

from typing import Any, NamedTuple

import orjson
from aiohttp import ClientSession

from service.demo.api import DemoError


class ToolAnswer(NamedTuple):
    """What an agent is told: the text of a result, or why there is none."""

    text: str
    is_error: bool

    @property
    def is_pending(self) -> bool:
        return self.is_error and "has to approve" in self.text


class DemoAgent:
    """Calls tools by one URL and one token, in one session."""

    def __init__(
        self, http: ClientSession, url: str, token: str, session_id: str
    ) -> None:
        self._http = http
        self._url = url
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Baggage": f"session.id={session_id}",
        }

    async def call(self, tool: str, **arguments: Any) -> ToolAnswer:
        params = {"name": tool, "arguments": arguments}
        answer = await self._send("tools/call", params)
        if "error" in answer:
            return ToolAnswer(answer["error"]["message"], is_error=True)
        result = answer["result"]
        text = "\n".join(part.get("text", "") for part in result["content"])
        return ToolAnswer(text, is_error=bool(result.get("isError")))

    async def tools(self) -> list[str]:
        listed = await self._send("tools/list", {})
        return [tool["name"] for tool in listed["result"]["tools"]]

    async def _send(self, method: str, params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with self._http.post(
            self._url, json=message, headers=self._headers
        ) as response:
            body = await response.read()
        if not response.ok:
            raise DemoError(f"{method}: {body.decode(errors='replace')[:200]}")
        if response.content_type == "text/event-stream":
            # An answer that takes long is a stream; its last message is the answer.
            body = body.rpartition(b"data:")[2].partition(b"\n")[0]
        try:
            answer = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise DemoError(f"{method}: the answer ended early") from None
        return answer
