"""A process that calls without end, and says what it would forward: to be killed.

``python -m tests.integration.gateway.calling DATABASE_URL DATA_DIR AGENT TOKEN
CONNECTOR``
"""

import asyncio
import sys
from pathlib import Path
from typing import Final
from uuid import UUID

from service.agent_tokens.caller import Caller
from service.gateway.gate import Admission, CallRequest
from service.gateway.tool_gate import ToolGate
from service.open_resources import open_resources

CALLERS: Final = 8
# Each is approved once: the callers of all processes race for it.
APPROVED: Final = 10


async def call_without_end(gate: ToolGate, caller: Caller, connector_id: UUID) -> None:
    number = 0
    while True:
        number += 1
        for tool in ("issues.list", "issues.create"):
            request = CallRequest(
                caller=caller,
                connector_id=connector_id,
                tool=tool,
                arguments=b'{"n":%d}' % (number % APPROVED),
                request_id="calling",
            )
            answer = await gate.admit(request)
            if isinstance(answer, Admission):
                # What a forwarder would do now.
                print(answer.call_id, flush=True)  # noqa: T201


async def main(database_url: str, data_dir: str, *ids: str) -> None:
    agent_id, token_id, connector_id = map(UUID, ids)

    async def nothing(*_: object) -> list[UUID]:
        return []

    async with open_resources(database_url, Path(data_dir)) as opened:
        gate = ToolGate(
            opened.log,
            opened.key_ring,
            opened.vault,
            to_observe=nothing,
            overdue_approvals=nothing,
        )
        caller = Caller(agent_id=agent_id, token_id=token_id, user_id=None)
        await asyncio.gather(
            *(call_without_end(gate, caller, connector_id) for _ in range(CALLERS))
        )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
