"""Characters that a person who reads a definition doesn't see, and a model does."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from service.gateway.schemas.walk import shortened

# Of those that a definition has, and of its texts, so many are named to its owner.
NAMED_MAX: Final = 8


class HiddenCharacters(StrEnum):
    """What is done with hidden characters in definitions that agents are given."""

    REMOVE = "remove"
    MARK = "mark"
    KEEP = "keep"


# Calls have to have these as they are, and references lead to names.
_EXACT: Final = frozenset(
    {
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$ref",
        "$schema",
        "const",
        "enum",
        "pattern",
        "required",
    }
)

# Controls but tab, line feed, carriage return and next line; what Unicode says to
# ignore where it isn't known, such as zero-width and tag characters; directions.
_HIDDEN: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2"
    "\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
# Scripts that are written with joiners: of Arabic's family, Indic, Southeast Asian.
_JOINED: Final = (
    "\u0620-\u065f\u066e-\u06ff\u0710-\u074f\u0750-\u077f\u07ca-\u07f5"
    "\u0860-\u08ff\u0900-\u0dff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17b3"
    "\u17b6-\u17d3\u1820-\u18aa\u1a20-\u1a7f\u1b00-\u1b4b\ua840-\ua877"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010a3f\U00011000-\U000116bf"
)
_MONGOLIAN: Final = "\u1820-\u18aa"
_IDEOGRAPHS: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_NATIONS: Final = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in nation)
    for nation in ("eng", "sct", "wls")
)
_NEEDED: Final = "|".join(
    (
        # The flags of England, Scotland and Wales: the sequences that fonts have.
        f"\U0001f3f4\U000e0067\U000e0062(?:{_NATIONS})\U000e007f",
        # A joiner between emoji, and how one of them is shown; keycaps.
        f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])",
        f"(?<=[{_EMOJI}#*0-9])[\ufe0e\ufe0f]",
        # One joiner or non-joiner after a letter or sign of a script that needs them.
        f"(?<=[{_JOINED}])[\u200c\u200d]",
        f"(?<=[{_MONGOLIAN}])[\u180b-\u180f]",
        # Variants of ideographs, and of signs of mathematics.
        f"(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef]",
        "(?<=[\u2229-\u2aff])\ufe00",
    )
)
# The first part finds the few places where the rest, which is slower, has to look.
_FOUND: Final = re.compile(f"(?=[{_HIDDEN}\U0001f3f4])(?:{_NEEDED}|([{_HIDDEN}]))")


@dataclass(slots=True)
class _Found:
    """Where hidden characters are, and which."""

    paths: list[str] = field(default_factory=list)
    characters: set[str] = field(default_factory=set)

    def add(self, path: str, characters: Iterable[str]) -> None:
        self.paths.append(shortened(_FOUND.sub(_marked, path)))
        self.characters.update(characters)

    def told(self, what: str) -> Iterator[str]:
        if not self.paths:
            return
        codes = [_code(each) for each in sorted(self.characters)]
        more = ", …" if len(codes) > NAMED_MAX else ""
        others = len(self.paths) - 1
        where = self.paths[0] + (f" and {others} more" if others else "")
        yield f"{where}: {what} ({', '.join(codes[:NAMED_MAX])}{more})"


@dataclass(slots=True)
class _Texts:
    """The texts of a definition as agents see them."""

    is_marked: bool
    changed: _Found = field(default_factory=_Found)
    kept: _Found = field(default_factory=_Found)

    def shown(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, list):
            return [self.shown(each, f"{path}[{n}]") for n, each in enumerate(value)]
        if isinstance(value, dict):
            return {key: self._member(key, each, path) for key, each in value.items()}
        return value

    def _member(self, key: str, value: Any, path: str) -> Any:
        path = shortened(f"{path}.{key}" if path else key)
        if hidden := _hidden_in(key):
            self.kept.add(path, hidden)
        if key not in _EXACT or isinstance(value, dict):
            return self.shown(value, path)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and (hidden := _hidden_in(each)):
                self.kept.add(path, hidden)
        return value

    def _text(self, text: str, path: str) -> str:
        hidden = _hidden_in(text)
        if not hidden:
            return text
        self.changed.add(path, hidden)
        return _FOUND.sub(_marked if self.is_marked else _removed, text)


def without_hidden(
    document: Mapping[str, Any], hidden: HiddenCharacters
) -> tuple[dict[str, Any], list[str]]:
    """Return a definition as agents see it, and what is to be told to its owner.

    Names, and values that calls have to match, stay as they are.
    """
    if hidden is HiddenCharacters.KEEP:
        return dict(document), []
    texts = _Texts(is_marked=hidden is HiddenCharacters.MARK)
    shown: dict[str, Any] = texts.shown(document, "")
    done = "marked" if texts.is_marked else "removed"
    return shown, [
        *texts.changed.told(f"hidden characters are {done}"),
        *texts.kept.told("hidden characters stay, as calls need them"),
    ]


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _hidden_in(text: str) -> set[str]:
    if _is_plain(text):
        return set()
    return {each[1] for each in _FOUND.finditer(text) if each[1] is not None}


def _removed(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else ""


def _marked(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else f"<{_code(match[1])}>"


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"
