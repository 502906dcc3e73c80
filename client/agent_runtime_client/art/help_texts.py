"""Help texts of commands and their arguments, from the client's docstrings."""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, getdoc, signature
from typing import Any, Final, NamedTuple

# Where the command line differs from the method, or has more to say.
ARGUMENTS: Final[Mapping[str, str]] = {
    "after": "continue after this cursor or position, which an earlier answer has",
    "before": "continue with what is before this version",
    "currency": "ISO 4217 code, such as USD",
    "limit": "at most this many items, from as many pages as that takes",
}
# Of what the document doesn't describe.
OTHERS: Final[Mapping[str, str]] = {
    "content": "what is sent as it is",
    "content_type": "how the file is encoded",
    "idempotency_key": "repeat the command of an earlier run that has printed this key",
    "if_match": "only if this is still the version of what is changed",
    "name": "its name",
    "refuse_warnings": "change nothing if there are warnings about the rules",
    "rules": "a JSON list of objects with connector_id, tool_pattern and stance",
}
# What the command line calls otherwise, and what is otherwise there.
_WORDS: Final[Mapping[str, str]] = {"get": "show"}
_SENTENCES: Final[Mapping[str, str]] = {
    "By default nothing is changed: --dry-run false records the new costs.": (
        "With --dry-run nothing is changed."
    ),
    "use the stream to receive new entries": "art audit tail prints new entries",
    "If-Match is": "--if-match is",
}
# Names whose values are ids, with the thing that they are ids of: names are taken too.
NAMED: Final[Mapping[str, str]] = {
    "agent_id": "agents",
    "connection_id": "connections",
    "connector_id": "connectors",
    "preset_id": "presets",
    "user_id": "users",
}
_PARAMETER: Final = re.compile(r"^:param (\w+): ((?:.|\n )+)", re.MULTILINE)
_QUOTED: Final = re.compile(r"(`+)([^`]+)\1")
# A sentence's first word keeps its case if it is a name such as ISO or X-Request-Id.
_FIRST_WORD: Final = re.compile(r"\A[A-Z](?=[a-z]*\b(?!-))")


class HelpTexts(NamedTuple):
    """What a docstring says: a sentence, the rest, and each parameter."""

    summary: str
    details: str
    arguments: Mapping[str, str]


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def metavar_of(name: str) -> str:
    """Return what a positional argument is called."""
    return (name.removesuffix("_id") if name in NAMED else name).upper()


def help_texts(method: Callable[..., Any]) -> HelpTexts:
    """Return the help texts of a method; they name its arguments as users do."""
    called = {
        each.name: flag_of(each.name)
        if each.kind is Parameter.KEYWORD_ONLY
        else metavar_of(each.name)
        for each in signature(method).parameters.values()
    }

    def plain(text: str) -> str:
        def argument(found: re.Match[str]) -> str:
            name, equals, value = found[2].partition("=")
            if equals and name in called:
                return f"{called[name]} {value}"
            return called.get(found[2]) or _WORDS.get(found[2], found[2])

        return _QUOTED.sub(argument, text)

    text = getdoc(method) or ""
    arguments = {
        name: _lowered(" ".join(plain(words).split()))
        for name, words in _PARAMETER.findall(text)
    }
    summary, _, rest = _PARAMETER.sub("", text).partition("\n")
    paragraphs = [" ".join(plain(each).split()) for each in rest.strip().split("\n\n")]
    details = "\n\n".join(paragraphs)
    for sentence, instead in _SENTENCES.items():
        details = details.replace(sentence, instead)
    return HelpTexts(plain(summary), details, arguments)


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
    if described is not None and described.startswith("next of"):
        return described
    return ARGUMENTS.get(name) or described or OTHERS.get(name)
