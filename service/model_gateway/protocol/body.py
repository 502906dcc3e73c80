"""The body of a model call: read for what decides about it, and edited in place."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NoReturn

import orjson

from service.errors import MalformedRequestError, Problem
from service.http.json_bounds import has_more_parts
from service.model_gateway.dialects import Dialect

# Of separators, brackets and strings: 300,000 tokens may be sent as numbers.
PARTS_MAX: Final = 500_000
# An estimate, of text in JSON. Most models have more, so most prompts are shorter.
BYTES_OF_TOKEN: Final = 3
# Of an image or a file, as base64, whose bytes aren't text.
TOKENS_OF_BLOB: Final = 1_600
INCLUDE_USAGE: Final = '"include_usage":true'


class Member(NamedTuple):
    """A value in a text of JSON, and where it stands."""

    value: Any
    start: int
    end: int


class Edit(NamedTuple):
    """Bytes of a body that are replaced."""

    start: int
    end: int
    replacement: bytes


@dataclass(slots=True, kw_only=True)
class CallBody:
    """A body as the client sent it, and what of it decides.

    ``asks_for_usage`` is an edit by which a stream of chat completions ends with its
    usage, where the client says nothing about that: the client isn't to see it.
    """

    content: bytes = field(repr=False)
    members: Mapping[str, Any] = field(repr=False)
    model: str
    is_stream: bool
    model_at: Edit
    asks_for_usage: Edit | None

    @property
    def withholds_usage(self) -> bool:
        return self.asks_for_usage is not None

    def drop(self) -> None:
        """Free the memory of what is known only from the client's bytes."""
        self.content, self.members = b"", {}

    def with_model(self, model: str) -> bytes:
        """Return the body for a target: the client's bytes but for the edits."""
        edits = [] if self.asks_for_usage is None else [self.asks_for_usage]
        if model != self.model:
            edits.append(self.model_at._replace(replacement=orjson.dumps(model)))
        content = self.content
        for start, end, replacement in sorted(edits, reverse=True):
            content = content[:start] + replacement + content[end:]
        return content


def parse_call(content: bytes, dialect: Dialect) -> CallBody:
    """Read a body.

    :raises MalformedRequestError: it isn't an object of JSON in UTF-8, has too many
        values, or a key twice that decides, or no name of a model
    """
    if has_more_parts(content, PARTS_MAX):
        _refuse(f"the body has more than {PARTS_MAX} values and strings")
    try:
        text = content.decode()
        members, end = _members(text)
        if _spaces_end(text, end) < len(text):
            _refuse("the body has more than one value")
        is_stream = "stream" in members and members["stream"].value is True
        usage = None
        if is_stream and dialect is Dialect.OPENAI_CHAT:
            usage = _usage_edit(text, members)
    except UnicodeDecodeError:
        _refuse("the body is not UTF-8")
    except RecursionError:
        _refuse("the body is nested too deep")
    except ValueError as error:
        # The decoder quotes nothing of the body.
        _refuse(f"the body is not valid JSON: {error}")
    model = members.get("model")
    # A number is kept as text, too.
    if model is None or not text.startswith('"', model.start):
        _refuse(
            "the body has no model: name one",
            Problem("model", "must be the name of a model"),
        )
    return CallBody(
        content=content,
        members={name: member.value for name, member in members.items()},
        model=model.value,
        is_stream=is_stream,
        model_at=_in_bytes(text, model.start, model.end, ""),
        asks_for_usage=usage,
    )


def estimated_tokens(content: bytes) -> int:
    """Return about how many tokens a prompt has, rather too many than too few."""
    blobs = [len(each) for each in _BLOB.findall(content)]
    text = len(content) - sum(blobs)
    return text // BYTES_OF_TOKEN + len(blobs) * TOKENS_OF_BLOB


def _usage_edit(text: str, members: Mapping[str, Member]) -> Edit | None:
    """Return what asks for the usage; None if the client says whether it wants it.

    :raises ValueError: the options have a key twice
    """
    options = members.get("stream_options")
    if options is None:
        last = max(member.end for member in members.values())
        added = f',"stream_options":{{{INCLUDE_USAGE}}}'
        return _in_bytes(text, last, last, added)
    if options.value is None:
        return _in_bytes(text, options.start, options.end, f"{{{INCLUDE_USAGE}}}")
    if not isinstance(options.value, dict):
        return None
    inner, _ = _members(text, options.start)
    given = inner.get("include_usage")
    if given is None:
        begin = options.start + 1
        comma = "," if inner else ""
        return _in_bytes(text, begin, begin, f"{INCLUDE_USAGE}{comma}")
    if given.value is None:
        return _in_bytes(text, given.start, given.end, "true")
    return None


def _members(text: str, position: int = 0) -> tuple[dict[str, Member], int]:
    """Return the members of the object at a position, and where it ends.

    Keys that differ in letter case only are one: to some providers they are.

    :raises ValueError: there is none, or it has a key twice
    """
    found: dict[str, Member] = {}
    names: set[str] = set()
    position = _after("{", text, position)
    if text.startswith("}", position):
        return found, position + 1
    while True:
        if not text.startswith('"', position):
            raise ValueError(f"a name is missing at character {position}")
        name, position = _DECODER.raw_decode(text, position)
        start = _after(":", text, position)
        value, end = _DECODER.raw_decode(text, start)
        if name.casefold() in names:
            # Providers differ in which of them counts.
            raise ValueError("an object has a key twice")
        names.add(name.casefold())
        found[name] = Member(value, start, end)
        position = _spaces_end(text, end)
        if text.startswith("}", position):
            return found, position + 1
        position = _after(",", text, position)


def _after(mark: str, text: str, position: int) -> int:
    """Return where the next value stands, behind a mark and spaces.

    :raises ValueError: something else is there
    """
    position = _spaces_end(text, position)
    if not text.startswith(mark, position):
        raise ValueError(f"{mark} is missing at character {position}")
    return _spaces_end(text, position + 1)


def _spaces_end(text: str, position: int) -> int:
    found = _SPACES.match(text, position)
    assert found is not None, "there may be none"
    return found.end()


def _in_bytes(text: str, start: int, end: int, replacement: str) -> Edit:
    if text.isascii():
        return Edit(start, end, replacement.encode())
    before = len(text[:start].encode())
    size = len(text[start:end].encode())
    return Edit(before, before + size, replacement.encode())


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse(message: str, *problems: Problem) -> NoReturn:
    raise MalformedRequestError(message, problems=problems) from None


_SPACES: Final = re.compile(r"[ \t\n\r]*")
# From a run's beginning only: a long one would otherwise be tried at each of its bytes.
_BLOB: Final = re.compile(rb"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{1024,}+")
# Numbers stay text: Python refuses to convert very long ones.
_DECODER: Final = json.JSONDecoder(
    parse_int=str, parse_float=str, parse_constant=_refuse_constant
)
