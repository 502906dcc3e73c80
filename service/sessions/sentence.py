"""The sentence by which the audit trail describes a turn."""

from typing import Any


def turn_text(event: Any) -> str:
    """Return an event's turn as a part of a sentence, without its sealed texts."""
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
