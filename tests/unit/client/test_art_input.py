"""Secrets as ``art`` reads them."""

import io
import sys

import pytest

from agent_runtime_client.art import input as art_input


@pytest.mark.parametrize("typed", [EOFError(), ""])
def test_nothing_typed_instead_of_a_secret_is_told(
    typed: EOFError | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: str) -> str:
        if isinstance(typed, EOFError):
            raise typed
        return typed

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(art_input, "getpass", read)
    with pytest.raises(ValueError, match="no value was given"):
        art_input.read_secret("value")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b"sk-1", "sk-1"),
        (b"sk-1\n", "sk-1"),
        (b"sk-1\r\n", "sk-1"),
        (b" sk-1 \n", " sk-1 "),
        (b"sk-1\r", "sk-1\r"),
        (b"sk-1\n\n", "sk-1\n\n"),
        (b"-----BEGIN-----\r\nx\r\n", "-----BEGIN-----\r\nx\r\n"),
        (b"-----BEGIN-----\nx\n", "-----BEGIN-----\nx\n"),
        ("\ufeffé\u2028\n".encode(), "\ufeffé\u2028"),
    ],
)
def test_a_secret_keeps_every_byte_but_the_line_end_of_a_single_line(
    given: bytes, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))

    assert art_input.read_secret("value").reveal() == kept


@pytest.mark.parametrize(
    ("given", "words"),
    [(b"sk-\xff", "not UTF-8 text at byte 3"), (b"", "no value"), (b"\n", "no value")],
)
def test_a_secret_that_cannot_be_sent_is_refused(
    given: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))

    with pytest.raises(ValueError, match=words) as refused:
        art_input.read_secret("value")

    assert "sk-" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_closed_standard_input_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(ValueError, match="no value"):
        art_input.read_secret("value")
