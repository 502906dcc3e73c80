"""Record an agent's session with its turns, and read back what it cost.

    export AGENT_RUNTIME_SERVER=http://127.0.0.1:8080 AGENT_RUNTIME_TOKEN=...
    python record_session.py AGENT_ID

The cost is known if the price catalog has a price for the model.
"""

import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from agent_runtime_client import AgentRuntime
from agent_runtime_client.models import SessionWithTurns

PROVIDER = "openai"
MODEL = "gpt-4o-mini"


class Reply(NamedTuple):
    """A model's answer, and the tokens that its provider counted."""

    text: str
    prompt_tokens: int
    completion_tokens: int


def ask_model(question: str) -> Reply:
    """Stand in for the call of a model; put your own here."""
    return Reply(f"You asked: {question}", 1_000 + len(question), 200)


def record(
    runtime: AgentRuntime, agent_id: UUID | str, questions: Iterable[str]
) -> SessionWithTurns:
    """Ask the model each question, record the calls, and return the session."""
    session_id = runtime.sessions.start(agent_id).session_id
    for number, question in enumerate(questions, start=1):
        started_at = datetime.now(UTC)
        reply = ask_model(question)
        runtime.sessions.record_turn(
            session_id,
            turn_id=f"turn-{number}",  # recorded once, however often it is sent
            started_at=started_at,
            ended_at=datetime.now(UTC),
            provider=PROVIDER,
            model=MODEL,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            input=question,
            output=reply.text,
        )
    runtime.sessions.end(session_id)
    # The client waits until the service has processed what it recorded above.
    return runtime.sessions.get(session_id)


def main() -> None:
    server, token = (os.environ[f"AGENT_RUNTIME_{x}"] for x in ("SERVER", "TOKEN"))
    with AgentRuntime(server, token) as runtime:
        session = record(runtime, sys.argv[1], ["Where is my parcel?", "Thank you!"])
    for turn in session.turns:
        print(turn.turn_id, turn.token_usage.total, turn.cost, turn.unpriced or "")
    summary = session.cost_summary
    if summary.total.cost is None:
        print("cost unknown:", ", ".join(summary.unpriced))
    else:
        print("cost:", summary.total.cost, summary.total.currency)


if __name__ == "__main__":
    main()
