"""Data on standard output: a table for people, JSON, JSON lines or CSV for programs."""

import csv
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice
from shutil import get_terminal_size
from typing import Any, Final

from agent_runtime_client.art.yaml_text import yaml_text

CELL_MAX: Final = 60
# What people read of entries of the audit trail.
SENTENCES: Final = ("position", "recorded_at", "actor", "what")
# Widths are taken from the first rows, so that a long list starts to show at once.
MEASURED_ROWS: Final = 100
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_MARKED: Final = re.compile(r'"\\u0000([^"]*?)\\u0000"')


def default_format() -> str:
    return "table" if sys.stdout.isatty() else "json"


class UnknownColumnError(Exception):
    """A column that was asked for isn't a field of the data."""


def write(
    data: Any,
    form: str,
    *,
    columns: Sequence[str] | None = None,
    headers: bool = True,
) -> None:
    """Write the data of an answer; a list as it comes.

    ``columns`` are the fields that are written, in their order.

    :raises UnknownColumnError: the data has no such field
    """
    if data is None:
        return
    if isinstance(data, str):
        sys.stdout.write(data if data.endswith("\n") else data + "\n")
        return
    if columns is not None:
        data = _only(columns, data)
    if form in ("json", "yaml"):
        whole = data if isinstance(data, (Mapping, list)) else list(data)
        if form == "json":
            print(json_text(whole, indent=2))
        else:
            sys.stdout.write(yaml_text(whole, json_text))
    elif form == "jsonl":
        for item in _items(data):
            print(json_text(item), flush=True)
    elif form == "csv":
        _write_csv(_items(data), headers=headers)
    elif isinstance(data, Mapping):
        _write_object(data)
    else:
        width = get_terminal_size((120, 24)).columns
        _write_table(iter(data), width, columns=columns, headers=headers)


def _only(columns: Sequence[str], data: Any) -> Any:
    if isinstance(data, Mapping):
        return _fields(columns, data)
    return (_fields(columns, each) for each in data)


def _fields(columns: Sequence[str], row: Any) -> Mapping[str, Any]:
    names = list(row) if isinstance(row, Mapping) else []
    for name in columns:
        if name not in names:
            known = ", ".join(names) or "none"
            raise UnknownColumnError(f"there is no column {name!r}; there are: {known}")
    return {name: row[name] for name in columns}


def json_text(data: Any, *, indent: int | None = None) -> str:
    """Render JSON; a number keeps every digit that the service sent."""
    text = json.dumps(data, ensure_ascii=False, indent=indent, default=_marked)
    return _MARKED.sub(r"\1", text)


def _marked(value: Any) -> str:
    """Mark the digits of a decimal, which json would round as a float.

    The API's texts have no NUL, so that nothing else looks like it.
    """
    if isinstance(value, Decimal):
        return f"\0{value}\0"
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _items(data: Any) -> Iterable[Any]:
    return [data] if isinstance(data, Mapping) else data


def _write_object(data: Mapping[str, Any]) -> None:
    tables = {name: each for name, each in data.items() if _is_table(each)}
    plain = {name: each for name, each in data.items() if name not in tables}
    width = max(map(len, plain), default=0)
    for name, value in plain.items():
        print(f"{name:<{width}}  {cell(value)}")
    columns = get_terminal_size((120, 24)).columns
    for name, rows in tables.items():
        print(f"\n{name}:")
        _write_table(iter(rows), columns)


def _is_table(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, Mapping) for each in value)
    )


def _write_table(
    rows: Iterable[Any],
    width: int,
    *,
    columns: Sequence[str] | None = None,
    headers: bool = True,
) -> None:
    rows = iter(rows)
    first = list(islice(rows, MEASURED_ROWS))
    if not first:
        print("none", file=sys.stderr)
        return
    if not isinstance(first[0], Mapping):
        for row in chain(first, rows):
            print(cell(row))
        return
    names = columns or _columns(first, width)
    widths = [min(CELL_MAX, _width(name, first)) for name in names]
    # The last column takes what is left of the line.
    widths[-1] = max(widths[-1], width - sum(widths[:-1]) - 2 * len(widths[:-1]))
    if headers:
        print(_line(names, widths))
    for row in chain(first, rows):
        print(_line([cell(row.get(name)) for name in names], widths))


def _columns(rows: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """Choose the columns that fit: in the API's order, without nested ones."""
    names = dict.fromkeys(name for row in rows for name in row)
    full = [name for name in names if any(_is_short(row.get(name)) for row in rows)]
    if "what" in full:
        full = [name for name in SENTENCES if name in full]
    # Ids say little to people.
    full.sort(key=lambda name: name.endswith("_id"))
    chosen: list[str] = []
    left = width
    for name in full:
        needs = min(CELL_MAX, _width(name, rows))
        if not chosen or needs <= left:
            chosen.append(name)
            left -= needs + 2
    return chosen or list(names)[:1]


def _width(name: str, rows: Sequence[Mapping[str, Any]]) -> int:
    return max(len(name), *(len(cell(row.get(name))) for row in rows))


def _is_short(value: Any) -> bool:
    return value is not None and not isinstance(value, (Mapping, list))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    cut = [
        text if len(text) <= width else text[: width - 1] + "…"
        for text, width in zip(cells, widths, strict=True)
    ]
    padded = (f"{text:<{width}}" for text, width in zip(cut, widths, strict=True))
    return "  ".join(padded).rstrip()


def cell(value: Any) -> str:
    """Return a value on one line; control characters can't reach the terminal."""
    match value:
        case None:
            text = "-"
        case bool():
            text = "yes" if value else "no"
        case str():
            text = value
        case Mapping() | list():
            text = json_text(value)
        case _:
            text = str(value)
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _write_csv(rows: Iterable[Any], *, headers: bool) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    names: list[str] | None = None
    for each in rows:
        row = each if isinstance(each, Mapping) else {"value": each}
        if names is None:
            names = list(row)
            if headers:
                writer.writerow(names)
        writer.writerow([_csv_cell(row.get(name)) for name in names])


def _csv_cell(value: Any) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    if value is None:
        return ""
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return str(value)
    text = value if isinstance(value, str) else json_text(value)
    return "'" + text if text.startswith(FORMULA) else text
