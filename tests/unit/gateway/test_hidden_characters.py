"""Hidden characters in the texts of definitions: removed, marked, or needed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.gateway.definition import ToolDefinition
from service.gateway.schemas.hidden import HiddenCharacters
from service.gateway.schemas.presented import presented

REMOVE, MARK, KEEP = HiddenCharacters
TAGS = "".join(chr(0xE0000 + ord(each)) for each in "obey")
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def tool(**members: Any) -> dict[str, Any]:
    return {"name": "query", "inputSchema": {"type": "object"}, **members}


def seen(text: str, hidden: HiddenCharacters = REMOVE) -> Any:
    return presented(tool(description=text), hidden).document["description"]


@pytest.mark.parametrize(
    ("hidden", "marked"),
    [
        ("\x1b", "<U+001B>"),
        ("\x00", "<U+0000>"),
        ("\x7f", "<U+007F>"),
        ("\x9b", "<U+009B>"),
        ("\u00ad", "<U+00AD>"),
        ("\u061c", "<U+061C>"),
        ("\u200b", "<U+200B>"),
        ("\u200c", "<U+200C>"),
        ("\u200d", "<U+200D>"),
        ("\u200e", "<U+200E>"),
        ("\u202e", "<U+202E>"),
        ("\u2062", "<U+2062>"),
        ("\u2066", "<U+2066>"),
        ("\u3164", "<U+3164>"),
        ("\ufe0f", "<U+FE0F>"),
        ("\ufeff", "<U+FEFF>"),
        ("\U000e0001", "<U+E0001>"),
        ("\U000e007f", "<U+E007F>"),
        ("\U000e0100", "<U+E0100>"),
    ],
)
def test_hidden_characters_are_removed_or_marked(hidden: str, marked: str) -> None:
    text = f"Ask{hidden} it"

    assert seen(text) == "Ask it"
    assert seen(text, MARK) == f"Ask{marked} it"
    assert seen(text, KEEP) == text


@pytest.mark.parametrize(
    "text",
    [
        "one\ntwo\r\n\tthree\u0085four\u2028five\u00a0six",
        "Größe, naïve, 日本語, עברית, Ω",
        "👩‍💻 🏳️‍🌈 ❤️‍🔥 👍🏽 👨‍👩‍👧‍👦 🇩🇪 ☎︎ 1️⃣ #️⃣ 🧑🏽‍⚕️",
        f"{ENGLAND} wins",
        "می‌خواهم پیش‌فرض را",
        "क्‍ष and क्‌ष, ശ്രീ ന്‍",
        "ᠮᠣᠩᠭᠣᠯ\u180b ᠬᠠᠨ\u180eᠠ",
        "葛\U000e0100城 葛\ufe00城 \u2229\ufe00",
    ],
)
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    document = tool(description=text)

    shown = presented(document)

    assert shown.document == document
    assert shown.left_out == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "ab"),
        ("👩\u200d\u200d💻", "👩💻"),
        ("👩\u200d obey", "👩 obey"),
        ("❤\ufe0f\ufe0f\ufe01", "❤\ufe0f"),
        ("می\u200c\u200c\u200dخ", "می\u200cخ"),
        (f"🏴{TAGS}\U000e007f", "🏴"),
        (f"😀{TAGS}", "😀"),
        ("a\U000e0101\U000e0102", "a"),
        ("葛\U000e0101\U000e0102", "葛\U000e0101"),
    ],
)
def test_what_only_looks_needed_is_removed(text: str, shown: str) -> None:
    assert seen(text) == shown


def test_all_texts_of_a_definition_are_read() -> None:
    def texts(hidden: str) -> dict[str, Any]:
        text = f"Ask{hidden}"
        schema = {
            "type": "object",
            "title": text,
            "properties": {
                "enum": {"type": "string", "description": text, "default": text},
                "pair": {"anyOf": [{"description": text}], "examples": [text, 1]},
            },
            "$defs": {"it": {"$comment": text, "x-hint": {"const": {"a": text}}}},
        }
        return tool(
            title=text,
            description=text,
            annotations={"title": text},
            inputSchema=schema,
            outputSchema=schema,
        )

    document = texts("\u200b")

    assert presented(document).document == texts("")
    assert presented(document, MARK).document == texts("<U+200B>")
    assert document == texts("\u200b"), "the pinned definition stays as it is"


def test_names_and_values_that_calls_need_stay_and_are_told() -> None:
    schema = {
        "type": "object",
        "properties": {"a\u200b": {"enum": ["x\u202e", 1]}, "b": {"const": "y\ufeff"}},
        "required": ["a\u200b"],
    }
    document = tool(inputSchema=schema)

    shown = presented(document)

    assert shown.document == document
    assert shown.left_out == (
        (
            "inputSchema.properties.a<U+200B> and 3 more: hidden characters stay, as "
            "calls need them (U+200B, U+202E, U+FEFF)"
        ),
    )


def test_the_owner_is_told_where_which_characters_were() -> None:
    document = tool(title="\u202ea", description=f"\u200b{TAGS}")

    assert presented(document).left_out == (
        (
            "title and 1 more: hidden characters are removed (U+200B, U+202E, "
            "U+E0062, U+E0065, U+E006F, U+E0079)"
        ),
    )
    assert (
        presented(document, MARK)
        .left_out[0]
        .startswith("title and 1 more: hidden characters are marked (U+200B")
    )
    assert presented(document, KEEP).left_out == ()


def test_what_the_owner_is_told_has_a_bound() -> None:
    texts = [chr(0xE0000 + n) for n in range(128)]
    schema = {"type": "object", "x" * 5_000: {"examples": texts}}

    (told,) = presented(tool(inputSchema=schema)).left_out

    assert len(told) < 400
    assert told.endswith("U+E0007, …)")


def test_the_digest_is_that_of_the_definition_as_it_is_listed() -> None:
    plain, hidden = (
        ToolDefinition.of(tool(description=text)) for text in ("Ask", "Ask\u200b")
    )

    assert plain.digest != hidden.digest
    assert plain.presented.document == hidden.presented.document


@given(st.text(), st.sampled_from([REMOVE, MARK]))
def test_what_is_shown_has_nothing_more_to_remove(
    text: str, hidden: HiddenCharacters
) -> None:
    shown = seen(text, hidden)

    assert seen(shown) == shown
