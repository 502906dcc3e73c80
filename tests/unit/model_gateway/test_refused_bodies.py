"""Bodies of model calls that are refused, in words that quote nothing of them."""

import json
from typing import Any, NoReturn

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.errors import MalformedRequestError
from service.model_gateway.dialects import Dialect
from service.model_gateway.protocol import body as bodies
from service.model_gateway.protocol.body import parse_call

SECRET = "xyzzy"
REFUSED = {
    "empty": b"",
    "only spaces": b" \n",
    "no object": b'["xyzzy"]',
    "a string": b'"xyzzy"',
    "no JSON": b"xyzzy",
    "no model": b'{"xyzzy":1}',
    "nothing": b"{}",
    "a model that is null": b'{"model":null,"a":"xyzzy"}',
    "a model that is a number": b'{"model":1,"a":"xyzzy"}',
    "a model that is a list": b'{"model":["xyzzy"]}',
    "a model that is an object": b'{"model":{"model":"xyzzy"}}',
    "a model elsewhere": b'{"a":{"model":"xyzzy"}}',
    "the model twice": b'{"model":"xyzzy","model":"xyzzy"}',
    "the model twice, once escaped": b'{"model":"xyzzy","mod\\u0065l":"a"}',
    "another key twice": b'{"model":"a","xyzzy":1,"xyzzy":1}',
    "a key twice, in other alphabets": '{"model":"a","é":"xyzzy","\\u00e9":1}'.encode(),
    "not a number": b'{"model":"xyzzy","a":NaN}',
    "infinity": b'{"model":"xyzzy","a":Infinity}',
    "less than infinity": b'{"model":"xyzzy","a":[{"b":-Infinity}]}',
    "a number with zeros": b'{"model":"xyzzy","a":01}',
    "a number with a plus": b'{"model":"xyzzy","a":+1}',
    "half a number": b'{"model":"xyzzy","a":.5}',
    "something behind": b'{"model":"a"}xyzzy',
    "another document behind": b'{"model":"a"} {"xyzzy":1}',
    "a NUL behind": b'{"model":"xyzzy"}\0',
    "a comma at the end": b'{"model":"xyzzy",}',
    "a comma at the beginning": b'{,"model":"xyzzy"}',
    "two commas": b'{"model":"xyzzy",,"a":1}',
    "no comma": b'{"model":"xyzzy" "a":1}',
    "no colon": b'{"model" "xyzzy"}',
    "no value": b'{"model":"xyzzy","a":}',
    "a comment": b'{"model":"xyzzy"/*xyzzy*/}',
    "other quotes": b"{'model':'xyzzy'}",
    "a name without quotes": b'{xyzzy:1,"model":"a"}',
    "an open object": b'{"model":"xyzzy"',
    "an open string": b'{"model":"xyzzy',
    "a line break in a string": b'{"model":"xyzzy\n"}',
    "a NUL in a string": b'{"model":"xyzzy\0"}',
    "no such escape": b'{"model":"xyzzy\\x41"}',
    "half an escape": b'{"model":"xyzzy\\u00"}',
    "another space": '{\u00a0"model":"xyzzy"}'.encode(),
    "a mark of the byte order": b'\xef\xbb\xbf{"model":"xyzzy"}',
    "UTF-16": '{"model":"xyzzy"}'.encode("utf-16"),
    "Latin-1": '{"model":"xyzzy é"}'.encode("latin-1"),
    "half a character": b'{"model":"xyzzy \xc3"}',
    "half a surrogate pair": b'{"model":"xyzzy \xed\xa0\x80"}',
    "too long a form of a slash": b'{"model":"xyzzy \xc0\xaf"}',
}


def refusal(content: bytes, dialect: Dialect = Dialect.OPENAI_CHAT) -> str:
    """Return everything that a refusal says."""
    with pytest.raises(MalformedRequestError) as caught:
        parse_call(content, dialect)
    error = caught.value
    # Nor may the log quote it, which has the causes.
    assert error.__suppress_context__ or error.__context__ is None
    return f"{error.message} {error.code} {error.problems}"


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_call_is_refused(what: str, dialect: Dialect) -> None:
    assert SECRET not in refusal(REFUSED[what], dialect)


def test_a_stream_of_chat_completions_may_have_no_option_twice() -> None:
    options = b'{"include_usage":false,"include_usage":true}'
    content = b'{"model":"xyzzy","stream":true,"stream_options":%b}' % options

    assert "a key twice" in refusal(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"model":"a"', "not valid JSON"),
        (b'{"model":"a","model":"b"}', "a key twice"),
        (b'{"model":"a","b":NaN}', "NaN is not JSON"),
        (b'{"model":"a"} {}', "more than one value"),
        (b'{"model":"\xff"}', "not UTF-8"),
        (b'{"stream":true}', "has no model"),
        (b'{"model":7}', "must be the name of a model"),
    ],
)
def test_a_refusal_says_what_is_wrong(content: bytes, words: str) -> None:
    assert words in refusal(content)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_body_may_not_be_nested_too_deep(opening: bytes) -> None:
    assert "too deep" in refusal(b'{"model":"xyzzy","a":' + opening * 100_000)


@pytest.mark.parametrize("part", [b"1,", b'"a,[{",', b"[],", b"{},"])
def test_a_body_may_not_have_too_many_parts(
    monkeypatch: pytest.MonkeyPatch, part: bytes
) -> None:
    monkeypatch.setattr(bodies, "PARTS_MAX", 1000)
    few, many = (
        b'{"model":"xyzzy","a":[' + count * part + b"1]}" for count in (300, 1000)
    )

    assert parse_call(few, Dialect.OPENAI_CHAT).model == SECRET
    assert "more than 1000" in refusal(many)


@given(cut=st.integers(0, 200))
def test_a_body_that_was_cut_off_is_refused(cut: int) -> None:
    whole = (
        '{"model":"xyzzy","a":[1,{"é":"xyzzy","b":-1.5e3},true,"\\n\\u00e9"]}'.encode()
    )

    assert SECRET not in refusal(whole[: min(cut, len(whole) - 1)])


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def model_in(content: bytes) -> str | None:
    """Return the model of a body as Python's own parser reads it; None without one."""
    found: list[list[tuple[str, Any]]] = []

    def members(of: list[tuple[str, Any]]) -> dict[str, Any]:
        # The outermost object ends last.
        found.append(of)
        return dict(of)

    try:
        document = json.loads(
            content.decode(), object_pairs_hook=members, parse_constant=refuse_constant
        )
    except ValueError:
        return None
    if not isinstance(document, dict) or len(document) < len(found[-1]):
        return None
    model = document.get("model")
    return model if isinstance(model, str) else None


BODY = b' {"a":[1,{"b":"\xc3\xa9\\u00e9"}],\n"model":"fast","c":-1.5e3,"d":null} '
changes = st.lists(
    st.tuples(
        st.integers(0, len(BODY)),
        st.integers(0, 3),
        st.sampled_from(
            ['"', ",", ":", "{", "}", "[", "]", "\\", "1", " ", "-", "\xff"]
        )
        | st.just(""),
    ),
    max_size=3,
)


@given(changed=changes)
@example(changed=[])
def test_what_python_reads_is_taken_and_nothing_else(
    changed: list[tuple[int, int, str]],
) -> None:
    content = BODY
    for at, removed, put in changed:
        content = content[:at] + put.encode("latin-1") + content[at + removed :]

    expected = model_in(content)

    if expected is None:
        refusal(content)
    else:
        body = parse_call(content, Dialect.OPENAI_CHAT)
        assert (body.model, body.content) == (expected, content)
