"""Read the input and the output of a span as texts."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from service.sessions.otlp.attributes import Attributes, first_text
from service.sessions.otlp.instrumentation import Instrumentation
from service.sessions.otlp.messages import all_texts, last_text
from service.sessions.otlp.model_calls import kind_of
from service.sessions.otlp.span import SpanTexts

# Kinds of spans whose texts may be those of a turn: not of tools or embeddings.
KINDS: Final = frozenset(
    {
        *("LLM", "AGENT", "CHAIN"),
        *("chat", "text_completion", "generate_content", "completion"),
        *("invoke_agent", "invoke_workflow"),
        None,
    }
)
# Messages in attributes with a number, of which an instrumentation writes this many.
MESSAGES_MAX: Final = 1_000
USER: Final = "user"
NO_TEXTS: Final = SpanTexts()


def texts_of(found: Attributes, row: Instrumentation) -> SpanTexts:
    """Return the texts of a span, if it is of a kind that may have those of a turn."""
    kind = kind_of(found, row)
    if kind not in KINDS and not (row.inputs or row.outputs):
        return NO_TEXTS
    given, output = input_of(found, row), output_of(found, row)
    return SpanTexts(
        input=given,
        input_is_plain=given is not None and (row.are_events or is_plain(given)),
        output=output,
        output_is_plain=output is not None and (row.are_events or is_plain(output)),
    )


def input_of(found: Attributes, row: Instrumentation) -> str | None:
    """Return what the user wrote last, or else all that went in."""
    if row.inputs:
        own = first_text(found, *row.inputs)
        # What somebody wrote may be JSON.
        return own if own is None or row.are_events else _asked(own)
    raw = first_text(found, "input.value")
    if raw is not None and is_plain(raw):
        return raw
    return _last_of_user(found) or raw or first_text(found, "gen_ai.prompt")


def output_of(found: Attributes, row: Instrumentation) -> str | None:
    """Return the text of the answer, or else all that came out."""
    if row.outputs:
        return first_text(found, *row.outputs)
    raw = first_text(found, "output.value")
    if raw is not None and is_plain(raw):
        return raw
    messages = first_text(found, "gen_ai.output.messages")
    if messages is not None:
        return all_texts(messages)
    parts = "\n".join(
        text
        for prefix in ("llm.output_messages.", "gen_ai.completion.")
        for _, text in _numbered(found, prefix)
    )
    return parts or raw or first_text(found, "gen_ai.completion")


def _asked(text: str) -> str:
    """Return what the user wrote last in the AI SDK's prompt or messages."""
    if is_plain(text):
        return text
    try:
        parsed: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if isinstance(parsed, dict):
        prompt = parsed.get("prompt")
        if isinstance(prompt, str):
            return prompt
        parsed = parsed.get("messages") or prompt
    messages: list[Any] = parsed if isinstance(parsed, list) else []
    for message in reversed(messages):
        if isinstance(message, dict) and message.get("role") == USER:
            content = message.get("content")
            if isinstance(content, str):
                return content
            return _plain_parts(orjson.dumps(content).decode())
    return text


def is_plain(text: str) -> bool:
    """Return whether a text isn't JSON, by its first character."""
    return not text.lstrip().startswith(("{", "["))


def _last_of_user(found: Attributes) -> str | None:
    messages = first_text(found, "gen_ai.input.messages")
    if messages is not None:
        return last_text(messages, role=USER)
    for prefix in ("llm.input_messages.", "gen_ai.prompt."):
        texts = [text for role, text in _numbered(found, prefix) if role == USER]
        if texts:
            return texts[-1]
    return None


def _numbered(found: Attributes, prefix: str) -> Iterator[tuple[str | None, str]]:
    """Yield roles and texts of messages whose parts are attributes of their own.

    As OpenInference writes them, ``llm.input_messages.0.message.content``, and as
    OpenLLMetry did, ``gen_ai.prompt.0.content``.
    """
    for number in range(MESSAGES_MAX):
        for part in (f"{prefix}{number}.message.", f"{prefix}{number}."):
            role = first_text(found, f"{part}role")
            text = first_text(found, f"{part}content") or _parts(found, part)
            if text:
                yield role, _plain_parts(text)
            if role or text:
                break
        else:
            # Instructions, which aren't repeated, may have been the first message.
            if number:
                return


def _parts(found: Attributes, message: str) -> str:
    texts = []
    for number in range(MESSAGES_MAX):
        part = f"{message}contents.{number}.message_content."
        kind = first_text(found, f"{part}type")
        if kind is None:
            break
        text = first_text(found, f"{part}text")
        if kind == "text" and text:
            texts.append(text)
    return "\n".join(texts)


def _plain_parts(text: str) -> str:
    """Return the texts of a content in parts: ``[{"type": "text", "text": ...}]``."""
    if is_plain(text):
        return text
    try:
        parts: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if not isinstance(parts, list):
        return text
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts) or text
