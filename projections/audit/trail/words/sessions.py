"""Words about sessions; their texts are sealed and stand in none of them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

Named = Callable[[str], str]


def _turn(event: Any) -> str:
    model = f" by {event.model}" if event.model else ""
    tokens = [
        f"{count} {kind}"
        for kind, count in (
            ("prompt", event.prompt_tokens),
            ("completion", event.completion_tokens),
        )
        if count is not None
    ]
    counted = f", {' and '.join(tokens)} tokens" if tokens else ""
    cost = f", cost {event.cost} {event.currency}" if event.cost is not None else ""
    failed = ", failed" if event.is_error else ""
    return f"turn {event.turn_id!r}{model}{counted}{cost}{failed}"


WORDS: Final[Mapping[str, Callable[[Any, Named], str]]] = {
    "session.started": lambda e, n: (
        f"started session {e.session_id!r} of agent {n(e.agent_id)} with {n(e.user_id)}"
    ),
    "session.turn_recorded": lambda e, _: f"recorded {_turn(e)}",
    "session.turn_amended": lambda e, _: f"amended {_turn(e)}",
    "session.ended": lambda e, _: f"ended the session at {e.ended_at}",
}
