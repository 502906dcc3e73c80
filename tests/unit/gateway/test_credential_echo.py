"""A credential is found in what an upstream answers, however it is spelled there."""

import base64
import html
import json
import urllib.parse
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

from service.gateway.upstream import credential_echo, escapes
from service.gateway.upstream.credential_echo import REMOVED, CredentialEcho
from service.gateway.upstream.escapes import unescaped
from service.gateway.upstream.json_answers import parsed
from service.pacing import Pace

SECRET = "gh/p_7Kx+Qm2.vT9==&<~z"
HEADER = f"Bearer {SECRET}"


def every(text: str, form: str) -> str:
    """Spell each character of a text in one form of escape."""
    return "".join(form.format(ord(each)) for each in text)


def in_url_safe_base64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "hex": lambda text: text.encode().hex(),
    "hex in upper case": lambda text: text.encode().hex().upper(),
    "percent-encoded": lambda text: urllib.parse.quote(text, safe=""),
    "percent-encoded in lower case": lambda text: every(text, "%{:02x}"),
    "percent-encoded twice": lambda text: urllib.parse.quote(
        urllib.parse.quote(text, safe=""), safe=""
    ),
    "of a form": urllib.parse.quote_plus,
    "HTML": html.escape,
    "HTML twice": lambda text: html.escape(html.escape(text)),
    "HTML in decimal": lambda text: every(text, "&#{};"),
    "HTML in hex": lambda text: every(text, "&#x{:X};"),
    "JSON": lambda text: json.dumps({"a": text}),
    "JSON as PHP writes it": lambda text: json.dumps(text).replace("/", "\\/"),
    "JSON as Go writes it": lambda text: (
        json.dumps(text).replace("<", "\\u003c").replace("&", "\\u0026")
    ),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text).replace("/", "\\/")),
    "JavaScript": lambda text: every(text, "\\x{:02x}"),
    "base64": in_base64,
    "base64 of JSON": lambda text: in_base64(json.dumps({"a": "b", "c": text})),
    "base64 in lines": lambda text: base64.encodebytes(
        f"{'x' * 50}{text}{'y' * 90}".encode()
    ).decode(),
    "base64 in lines, in JSON": lambda text: json.dumps(
        base64.encodebytes(f"{'x' * 50}{text}{'y' * 90}".encode()).decode()
    ),
    **{
        f"base64 behind {offset}": lambda text, offset=offset: in_base64(  # type: ignore[misc]
            f"{'x' * offset}{text}{'y' * offset}"
        )
        for offset in range(1, 6)
    },
    **{
        f"URL-safe base64 behind {offset}": lambda text, offset=offset: (  # type: ignore[misc]
            in_url_safe_base64(f"{'?' * offset}{text}{'>' * offset}")
        )
        for offset in range(3)
    },
}


async def cleaned(header: str, message: Any, raw: bytes | None = None) -> Any:
    """Return a message as its agent gets it."""
    echo = CredentialEcho(SecretStr(header))
    raw = orjson.dumps(message) if raw is None else raw
    parsed = orjson.loads(raw)
    if await echo.may_be_in(raw):
        assert await echo.remove_from(parsed) == echo.was_found
    else:
        assert not echo.was_found
    return parsed


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("ensure_ascii", [True, False])
async def test_every_spelling_is_removed(spelling: str, ensure_ascii: bool) -> None:  # noqa: FBT001
    spelled = SPELLINGS[spelling](SECRET)
    text = f"before é {spelled} after"
    for message in ({"a": [{"b": text}]}, {text: 1}):
        raw = json.dumps(message, ensure_ascii=ensure_ascii).encode()
        got = json.dumps(await cleaned(HEADER, None, raw), ensure_ascii=False)

        assert REMOVED in got
        assert "before é" in got
        assert "after" in got
        assert not any(piece in got for piece in (spelled, SECRET, in_base64(SECRET)))


@pytest.mark.parametrize("spelling", ["as it is", "percent-encoded", "HTML", "base64"])
async def test_nothing_else_is_removed(spelling: str) -> None:
    spelled = SPELLINGS[spelling](SECRET)
    text = f"a%20b&amp;c\n{spelled} d%20e\\n {spelled}\n&lt;f"

    got = await cleaned(HEADER, [text, 7, None, "é"])

    assert got == [text.replace(spelled, REMOVED), 7, None, "é"]


async def test_the_scheme_goes_with_the_secret() -> None:
    assert await cleaned(HEADER, [f"{{'Authorization': '{HEADER}'}}"]) == [
        f"{{'Authorization': '{REMOVED}'}}"
    ]


@pytest.mark.parametrize(
    "echoed", ["ann:pa55word of ann", "pa55word of ann", "YW5uOnBhNTV3b3JkIG9mIGFubg=="]
)
async def test_user_and_password_of_basic_are_removed(echoed: str) -> None:
    header = f"Basic {in_base64('ann:pa55word of ann')}"

    assert REMOVED in (await cleaned(header, [f"for {echoed}!"]))[0]
    assert "pa55" not in str(await cleaned(header, [f"for {echoed}!"]))


async def test_every_character_may_stand_in_a_secret() -> None:
    secret = "".join(map(chr, range(32, 127)))
    for spelled in (secret, json.dumps(secret), in_base64(secret)):
        got = await cleaned(f"Token {secret}", [f"<{spelled}>"])
        assert REMOVED in got[0]
        assert "ABCDEF" not in got[0]
        assert "QUJDREVG" not in got[0]


@pytest.mark.parametrize(
    "raw", [b"[73316402]", b'["73316402"]', b"[7.3316402e7]", b'{"73316402": 1}']
)
async def test_digits_are_removed_as_a_number_too(raw: bytes) -> None:
    got = await cleaned("73316402", None, raw)

    assert REMOVED in str(got)
    assert "7331" not in str(got)


async def test_more_digits_than_a_number_of_json_keeps_are_removed() -> None:
    secret = "733164021848123648172364"

    assert await cleaned(f"Bearer {secret}", None, f"[{secret}]".encode()) == [REMOVED]


async def test_values_of_fewer_than_8_characters_are_not_looked_for() -> None:
    message = ["short77 of Bearer", "short77", "c2hvcnQ3Nw=="]

    assert await cleaned("Bearer short77", message) == message
    assert await cleaned("short77", message) == message
    assert await cleaned("Bearer short778", ["short778"]) == [REMOVED]


@pytest.mark.parametrize(
    "text",
    [
        "a result with 100% of &amp; and %20, \\u00e9, \\/ and C:\\new",
        json.dumps({"nested": json.dumps({"a": "b\n/\"'<é"})}),
        "&unknown; &#0; &#1114112; &#x110000; % %zz \\ \\\\ \r\n",
        in_base64("no credential at all"),
        "",
    ],
)
async def test_other_texts_stay_as_they_are(text: str) -> None:
    message = {text: [text, {"a": 1.5, "b": None, "c": True}], "z": 1, "y": 2}

    assert orjson.dumps(await cleaned(HEADER, message)) == orjson.dumps(message)


async def test_it_is_found_across_the_pieces_of_a_long_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(credential_echo, "_PIECE_BYTES", 64)
    for at in range(200):
        got = await cleaned("Bearer 7Kx0Qm2vT9zz", ["x" * at + "7Kx0Qm2vT9zz" + "y"])
        assert got == ["x" * at + REMOVED + "y"], at


async def test_escapes_are_undone_across_the_pieces_of_a_long_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(escapes, "_PIECE_CHARACTERS", 100)
    for spelling in ("percent-encoded twice", "HTML in hex", "JSON in JSON"):
        spelled = SPELLINGS[spelling](SECRET)
        for at in range(150):
            text = "x" * at + spelled + "y&amp;z"
            assert (await escapes.plain_of(text, Pace())).text == unescaped(text)
            (got,) = await cleaned(HEADER, [text])
            assert got.startswith("x" * at)
            assert REMOVED in got
            assert got.endswith("y&amp;z")


def test_neither_the_secret_nor_what_is_looked_for_is_shown() -> None:
    echo = CredentialEcho(SecretStr(HEADER))

    assert SECRET not in repr(echo)


async def test_an_integer_that_is_kept_as_it_was_written_is_removed_too() -> None:
    secret = "1234567890123456789012345"
    raw = b'{"a": [1234567890123456789012345, 9234567890123456789012345]}'
    document = parsed(raw, exactly=True)
    echo = CredentialEcho(SecretStr(f"Bearer {secret}"))

    assert await echo.may_be_in(raw)
    assert await echo.remove_from(document)

    shown = orjson.dumps(document)
    assert shown == b'{"a":["[credential removed]",9234567890123456789012345]}'
