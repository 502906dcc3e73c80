"""Command line arguments from the parameters of a client's method."""

import argparse
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from agent_runtime_client.art.help_texts import (
    NAMED,
    argument_help,
    flag_of,
    help_texts,
    metavar_of,
)
from agent_runtime_client.art.input import read_bytes, read_secret
from agent_runtime_client.art.suggestions import unknown
from agent_runtime_client.model import Model
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


class Parameter(NamedTuple):
    """A parameter of a method: its name, the types that it takes, and its help."""

    name: str
    types: tuple[Any, ...]
    is_required: bool
    is_positional: bool
    help: str | None = None

    @property
    def is_file(self) -> bool:
        """Say whether the value is read from a file."""
        kind = get_origin(self.types[0]) or self.types[0]
        is_object = isinstance(kind, type) and issubclass(kind, (Mapping, Model))
        return (
            kind is bytes or is_object or (self._is_list and not self._is_list_of_words)
        )

    @property
    def is_secret(self) -> bool:
        return Secret in self.types

    @property
    def _is_list(self) -> bool:
        return get_origin(self.types[0]) is Sequence

    @property
    def _is_list_of_words(self) -> bool:
        if not self._is_list:
            return False
        [item] = get_args(self.types[0])
        return item in (str, int) or get_origin(item) is Literal

    @property
    def _is_list_of_numbers(self) -> bool:
        return self._is_list and get_args(self.types[0]) == (int,)

    @property
    def _choices(self) -> tuple[str, ...]:
        kind = get_args(self.types[0])[0] if self._is_list else self.types[0]
        if get_origin(kind) is not Literal:
            return ()
        return (*get_args(kind), *([NULL] if NoneType in self.types else []))

    @property
    def _help(self) -> str:
        """What it means, and how the value is written if that isn't clear."""
        form = None
        if self.is_file:
            form = "a file, or - for standard input"
        elif self._is_list:
            form = f"{', '.join(self._choices)}; several with commas".lstrip("; ")
        elif self.is_positional and self._choices:
            form = f"one of {', '.join(self._choices)}"
        elif datetime in self.types:
            form = "such as 2026-11-01T12:00:00Z"
        elif date in self.types:
            form = "such as 2026-11-01"
        text = (
            f"{self.help} ({form})" if self.help and form else self.help or form or ""
        )
        return text.replace("%", "%%")

    @property
    def _metavar(self) -> str | None:
        """How the value is called, unless its choices are shown."""
        if 0 < len(self._choices) <= CHOICES_SHOWN_MAX:
            return None
        if self.is_file:
            return "FILE"
        if self.name in NAMED or self.is_positional:
            return metavar_of(self.name)
        forms = (
            ({int, datetime} <= {*self.types}, "POSITION|TIME"),
            ({int, str} <= {*self.types}, "VERSION"),
            (datetime in self.types, "TIME"),
            (date in self.types, "DATE"),
            (int in self.types, "N"),
            (Decimal in self.types, "NUMBER"),
        )
        name = self.name.rpartition("_")[2].upper()
        return next((form for fits, form in forms if fits), name)

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add the argument, unless it is a secret: those are never arguments."""
        if self.is_secret:
            return
        options: dict[str, Any] = {"help": self._help}
        if self.types[0] is bool:
            options |= {"action": argparse.BooleanOptionalAction}
        elif self._is_list_of_words:
            items = _Items(self._choices, are_numbers=self._is_list_of_numbers)
            options |= {"action": "extend", "type": items}
            options |= {"metavar": "N,N" if items.are_numbers else "NAME,NAME"}
        else:
            options |= {"metavar": self._metavar, "choices": self._choices or None}
        if not (self.is_file or self._choices or self.types[0] is bool):
            options.setdefault("type", self._convert)
        name = PREFIX + self.name
        if self.is_positional:
            if options["metavar"] is None:
                options["metavar"] = self.name.upper()
            parser.add_argument(name, **options)
            return
        flag = _FLAGS.get(self.name) or flag_of(self.name)
        options |= {"required": self.is_required, "default": argparse.SUPPRESS}
        parser.add_argument(flag, dest=name, **options)

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
            return None if value == NULL and NoneType in self.types else value
        content = read_bytes(value)
        if self.types[0] is bytes:
            return content
        try:
            return json.loads(content, parse_float=Decimal)
        except ValueError as error:
            raise ValueError(f"{value} is not JSON: {error}") from None

    def _convert(self, text: str) -> Any:
        if text == NULL and NoneType in self.types:
            return None
        for kind in self.types:
            try:
                return _CONVERTERS.get(kind, _text)(text)
            except (ValueError, InvalidOperation):
                continue
        names = " or ".join(
            dict.fromkeys(_NAMES.get(kind, "UTF-8 text") for kind in self.types)
        )
        raise argparse.ArgumentTypeError(f"{text!r} is not {names}")


class _Items:
    """Splits a list at its commas; an argument may be repeated, too."""

    def __init__(self, choices: Sequence[str], *, are_numbers: bool) -> None:
        self._choices = choices
        self.are_numbers = are_numbers

    def __call__(self, text: str) -> list[Any]:
        items = text.split(",")
        if self.are_numbers:
            return [*map(_number, items)]
        for item in items:
            if self._choices and item not in self._choices:
                raise argparse.ArgumentTypeError(unknown(item, self._choices))
        return items


def parameters_of(method: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a client's method, without the instance."""
    hints = get_type_hints(method)
    given = [*inspect.signature(method).parameters.values()][1:]
    described = help_texts(method).arguments
    found = []
    for parameter in given:
        hint = hints[parameter.name]
        is_union = get_origin(hint) not in (None, Literal, Sequence, Mapping)
        kinds = get_args(hint) if is_union else (hint,)
        found.append(
            Parameter(
                parameter.name,
                tuple(each for each in kinds if each is not NotGiven),
                is_required=parameter.default is parameter.empty,
                is_positional=parameter.kind is not parameter.KEYWORD_ONLY,
                help=argument_help(parameter.name, described.get(parameter.name)),
            )
        )
    return found


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {_NAMES[int]}") from None


def _text(text: str) -> str:
    """Return a text as it is.

    :raises ValueError: it isn't UTF-8, and so can't be sent
    """
    text.encode()
    return text


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
