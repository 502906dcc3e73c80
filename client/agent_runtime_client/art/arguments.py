"""Command line arguments from the parameters of a client's method."""

import argparse
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from getpass import getpass
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from agent_runtime_client.not_given import NotGiven
from agent_runtime_client.secret import Secret

# "null" clears a field, where the API takes null.
NULL: Final = "null"
# Parameters are kept apart from the options of every command by this.
PREFIX: Final = "parameter."
# Flags that every command has for something else.
_FLAGS: Final[Mapping[str, str]] = {"output": "--output-text"}
# A longer list in the usage helps nobody; an error names the choices that are near.
CHOICES_SHOWN_MAX: Final = 12
HELP: Final[Mapping[str, str]] = {
    "after": "continue behind this cursor or position, from an earlier answer",
    "at": "as of this position or time",
    "currency": "code of ISO 4217, such as USD",
    "name": "its name",
    "model": "name of the model, as its provider has it",
    "provider": "key of the provider, such as openai",
    "since": "from this position or time on",
    "slug": "short name, the beginning of its tools' names",
    "tool": "name of the tool",
    "if_match": "only if the resource still has this version",
    "refuse_warnings": "change nothing if there are warnings about the rules",
    "idempotency_key": "key of an earlier run, to repeat the same command safely",
    "limit": "at most this many items; all pages are read up to there",
}


class Parameter(NamedTuple):
    """A parameter of a method: its name, the types that it takes, and its default."""

    name: str
    types: tuple[Any, ...]
    is_required: bool
    is_positional: bool

    @property
    def is_file(self) -> bool:
        """Say whether the value is read from a file."""
        return self.types[0] is bytes or self._item not in (None, str)

    @property
    def is_secret(self) -> bool:
        return Secret in self.types

    @property
    def _item(self) -> Any:
        """The type of the list's items; None if it is no list of objects."""
        if get_origin(self.types[0]) is not Sequence:
            return None
        item = get_args(self.types[0])[0]
        return str if get_origin(item) is Literal else item

    @property
    def _default_help(self) -> str | None:
        """What the name says by itself."""
        if self.name.endswith("_id"):
            return f"id of the {self.name.removesuffix('_id').replace('_', ' ')}"
        if datetime in self.types:
            return "a time such as 2026-11-01T12:00:00Z"
        return None

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the argument, unless it is a secret: those are never arguments."""
        if self.is_secret:
            return
        options: dict[str, Any] = {"help": HELP.get(self.name) or self._default_help}
        flag = _FLAGS.get(self.name) or "--" + self.name.replace("_", "-")
        options["dest"] = PREFIX + self.name
        if self.is_file:
            options |= {"help": "a file; - is standard input", "metavar": "FILE"}
        elif self.types[0] is bool:
            options |= {"action": argparse.BooleanOptionalAction}
        elif get_origin(self.types[0]) is Literal:
            options |= {"choices": get_args(self.types[0])}
            if len(options["choices"]) > CHOICES_SHOWN_MAX:
                options["metavar"] = self.name.upper()
        elif self._item is str:
            items = get_args(get_args(self.types[0])[0])
            options |= {"action": "append", "choices": items or None}
        else:
            options |= {"type": self._convert, "metavar": self.name.upper()}
        if not self.is_positional:
            options |= {"required": self.is_required, "default": argparse.SUPPRESS}
            parser.add_argument(flag, **options)
        else:
            options.setdefault("metavar", self.name.upper())
            parser.add_argument(options.pop("dest"), **options)

    def is_in(self, given: Mapping[str, Any]) -> bool:
        """Say whether the command line has a value."""
        return self.is_secret or PREFIX + self.name in given

    def read(self, given: Mapping[str, Any]) -> Any:
        """Return the value that was given, reading files, input and prompts.

        :raises OSError: the file can't be read
        :raises ValueError: the file isn't JSON
        """
        if self.is_secret:
            return read_secret(self.name)
        value = given[PREFIX + self.name]
        if not self.is_file:
            return value
        if self.types[0] is bytes:
            return read_bytes(value)
        return json.loads(read_bytes(value), parse_float=Decimal)

    def _convert(self, text: str) -> Any:
        if text == NULL and NoneType in self.types:
            return None
        for kind in self.types:
            try:
                return _CONVERTERS.get(kind, str)(text)
            except (ValueError, InvalidOperation):
                continue
        names = " or ".join(_NAMES.get(kind, "a text") for kind in self.types)
        raise argparse.ArgumentTypeError(f"{text!r} is not {names}")


def parameters_of(method: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a client's method, without the instance."""
    hints = get_type_hints(method)
    found = []
    for parameter in [*inspect.signature(method).parameters.values()][1:]:
        hint = hints[parameter.name]
        is_union = get_origin(hint) not in (None, Literal, Sequence)
        kinds = get_args(hint) if is_union else (hint,)
        found.append(
            Parameter(
                parameter.name,
                tuple(each for each in kinds if each is not NotGiven),
                is_required=parameter.default is parameter.empty,
                is_positional=parameter.kind is not parameter.KEYWORD_ONLY,
            )
        )
    return found


def read_bytes(name: str) -> bytes:
    """Return the content of a file, or of standard input for ``-``."""
    return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()


def read_secret(name: str) -> Secret:
    """Ask for a secret without showing it, or read it from standard input.

    One line end at the end of the input is left out.
    """
    if sys.stdin.isatty():
        try:
            return Secret(getpass(f"{name} (not shown): "))
        except EOFError:
            raise ValueError(f"no {name} was given") from None
    return Secret(sys.stdin.read().removesuffix("\n").removesuffix("\r"))


def _time(text: str) -> datetime:
    """Parse a time; one without a zone is in the zone of this machine."""
    return datetime.fromisoformat(text).astimezone()


_CONVERTERS: Final[Mapping[Any, Callable[[str], Any]]] = {
    int: int,
    Decimal: Decimal,
    datetime: _time,
    date: date.fromisoformat,
}
_NAMES: Final[Mapping[Any, str]] = {
    int: "a whole number",
    Decimal: "a decimal",
    datetime: "a time such as 2026-11-01T12:00:00Z",
    date: "a date such as 2026-11-01",
    NoneType: NULL,
}
