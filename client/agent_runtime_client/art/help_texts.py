"""Help texts of commands and their arguments, from the client's docstrings."""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, getdoc, signature
from typing import Any, Final, NamedTuple

# Where the command line differs from the method, or has more to say.
ARGUMENTS: Final[Mapping[str, str]] = {
    "after": "continue after this cursor or position, which an earlier answer has",
    "before": "continue with what is before this version",
    "content_type": "how the file is encoded",
    "currency": "ISO 4217 code, such as USD",
    "if_match": "only if this is still the version of what is changed",
    "refuse_warnings": "change nothing if there are warnings about the rules",
    "idempotency_key": "repeat the command of an earlier run that has printed this key",
    "name": "its name",
    "limit": "at most this many items, from as many pages as that takes",
}
# Names whose values are ids, with the thing that they are ids of: names are taken too.
NAMED: Final[Mapping[str, str]] = {
    "agent_id": "agents",
    "connector_id": "connectors",
    "user_id": "users",
}
_PARAMETER: Final = re.compile(r"^:param (\w+): ((?:.|\n )+)", re.MULTILINE)
_QUOTED: Final = re.compile(r"(`+)([^`]+)\1")
# A sentence's first word keeps its case if it is a name such as ISO or X-Request-Id.
_FIRST_WORD: Final = re.compile(r"[A-Z](?=[a-z]*\b(?!-))")


class HelpTexts(NamedTuple):
    """What a docstring says: a sentence, the rest, and each parameter."""

    summary: str
    details: str
    arguments: Mapping[str, str]


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def help_texts(method: Callable[..., Any]) -> HelpTexts:
    """Return the help texts of a method; its options are called as flags in them."""
    flags = {
        each.name
        for each in signature(method).parameters.values()
        if each.kind is Parameter.KEYWORD_ONLY
    }

    def plain(text: str) -> str:
        return _QUOTED.sub(
            lambda found: flag_of(found[2]) if found[2] in flags else found[2], text
        )

    text = getdoc(method) or ""
    arguments = {
        name: _lowered(" ".join(plain(words).split()))
        for name, words in _PARAMETER.findall(text)
    }
    summary, _, details = _PARAMETER.sub("", text).partition("\n")
    return HelpTexts(plain(summary), plain(details).rstrip(), arguments)


def _lowered(sentence: str) -> str:
    words = sentence.removesuffix(".")
    return _FIRST_WORD.sub(lambda found: found[0].lower(), words, count=1)


def argument_help(name: str, described: str | None) -> str | None:
    """Return the help of an argument, without what its type tells."""
    if name in NAMED:
        thing = NAMED[name].removesuffix("s")
        if described is not None and described.startswith("limits"):
            described = f"only of this {thing}"
        return f"{described or thing}; by name or id"
    if described is None and name.endswith("_id"):
        thing = name.removesuffix("_id").replace("_", " ")
        return f"id of the {thing}"
    return ARGUMENTS.get(name) or described
