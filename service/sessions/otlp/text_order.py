"""Find the first input and the last output among the texts of a trace's spans.

The order is a text itself, so that the database compares the best one so far with the
best one of a request; the result doesn't depend on the order of arrival.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.sessions.otlp.span import ReportedSpan

# Times without offset and always with microseconds compare as text.
TIME: Final = "%Y%m%dT%H%M%S.%f"


@dataclass(frozen=True, slots=True)
class TextOrder:
    """The order of inputs, of which the first is best, or of outputs: the last."""

    field: str
    pick: Callable[..., tuple[str, ReportedSpan]]

    def best(
        self, spans: Sequence[ReportedSpan]
    ) -> tuple[ReportedSpan, str, str] | None:
        """Return the span with the best text, the text, and where it is in order."""
        found = [
            (self._key(span), span)
            for span in spans
            if getattr(span.texts, self.field) is not None
        ]
        if not found:
            return None
        key, span = self.pick(found, key=lambda item: item[0])
        return span, getattr(span.texts, self.field), key

    def _key(self, span: ReportedSpan) -> str:
        """Plain text is better than JSON, an outer span better than an inner one."""
        if self.field == "input":
            rank = 0 if span.texts.input_is_plain else 1
            return f"{rank} {span.started_at:{TIME}} {span.span_id}"
        rank = 1 if span.texts.output_is_plain else 0
        return f"{rank} {span.ended_at:{TIME}} {span.span_id}"


FIRST_INPUT: Final = TextOrder("input", min)
LAST_OUTPUT: Final = TextOrder("output", max)
