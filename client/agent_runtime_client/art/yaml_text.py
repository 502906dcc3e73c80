"""YAML of the data of an answer, without a library: scalars are those of JSON."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

# Others, and these words, could be read as something else than a text.
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BASIC_PLANE: Final = 0xFFFF
_WORDS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def yaml_text(data: Any, scalar: Callable[[Any], str]) -> str:
    """Render data in block style; ``scalar`` renders a scalar as JSON does."""
    text = "\n".join(_lines(data, scalar)) + "\n"
    # Inside of quotes, where a line end of Unicode would be one of YAML.
    return "".join(
        each if each.isprintable() or each == "\n" else _escaped(each) for each in text
    )


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= BASIC_PLANE else f"\\U{code:08x}"


def _lines(data: Any, scalar: Callable[[Any], str]) -> Iterator[str]:
    if isinstance(data, Mapping) and data:
        for name, value in data.items():
            key = name if _is_plain(name) else scalar(name)
            if _is_block(value):
                yield f"{key}:"
                yield from (f"  {line}" for line in _lines(value, scalar))
            else:
                yield f"{key}: {scalar(value)}"
    elif isinstance(data, list) and data:
        for item in data:
            first, *others = _lines(item, scalar)
            yield f"- {first}"
            yield from (f"  {line}" for line in others)
    else:
        yield scalar(data)


def _is_block(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def _is_plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and name.lower() not in _WORDS
