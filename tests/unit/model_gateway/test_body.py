"""Bodies of model calls: equal to what was sent but for the edits."""

import json
from itertools import cycle
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model_gateway.dialects import Dialect
from service.model_gateway.protocol.body import CallBody, parse_call

CHAT = Dialect.OPENAI_CHAT
ASKED = '"include_usage":true'
WORDS = ["model", "stream", "stream_options", "include_usage"]


def parsed(text: str | bytes) -> Any:
    """Return the document; numbers stay text."""
    return json.loads(text, parse_int=str, parse_float=str)


class Written(NamedTuple):
    """An object as its members, each a name and a value as they are written."""

    members: list[tuple[str, str]]
    spaces: list[str]

    def text(self, *, added: str = "", **replaced: str) -> str:
        """Write it, with other values, and with something behind the last one."""
        space = cycle(self.spaces)
        members = [
            f"{next(space)}{name}{next(space)}:{next(space)}"
            f"{replaced.get(parsed(name), value)}"
            for name, value in self.members
        ]
        inner = f"{next(space)},".join(members)
        return f"{next(space)}{{{inner}{added}{next(space)}}}{next(space)}"

    def value(self, **replaced: str) -> str:
        """Write it without spaces around."""
        return self.text(**replaced).strip()

    def without(self, name: str) -> "Written":
        kept = [each for each in self.members if parsed(each[0]) != name]
        return self._replace(members=kept)


def escapes(code: int) -> list[str]:
    return [f"\\u{code:04x}", f"\\u{code:04X}"]


def called(name: str) -> st.SearchStrategy[str]:
    """Write a name with any of its letters escaped."""
    letters = [st.sampled_from([each, *escapes(ord(each))]) for each in name]
    return st.tuples(*letters).map(lambda each: f'"{"".join(each)}"')


space_texts = st.sampled_from(["", "", " ", "\n", "\t\r\n  "])
# Half of a surrogate pair can only be sent escaped.
character_texts = (
    st.characters(codec="utf-8", min_codepoint=32, exclude_characters='"\\')
    | st.sampled_from(['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"])
    | st.integers(0, 0xFFFF).flatmap(lambda code: st.sampled_from(escapes(code)))
)
string_texts = (
    st.lists(character_texts, max_size=8).map(lambda each: f'"{"".join(each)}"')
    | st.sampled_from(WORDS).flatmap(called)
    | st.just(r'"\",\"model\":\"x"')
)
number_texts = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,8})?([eE][+-]?[0-9]{1,4})?", fullmatch=True
)
space_lists = st.lists(space_texts, min_size=1, max_size=7)


def objects(inner: st.SearchStrategy[str]) -> st.SearchStrategy[Written]:
    members = st.lists(
        st.tuples(string_texts, inner),
        max_size=4,
        unique_by=lambda member: parsed(member[0]),
    )
    return st.builds(Written, members, space_lists)


def arrays(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = st.lists(inner, max_size=4)
    return st.builds(
        lambda found, space: f"[{f'{space},'.join(found)}{space}]", items, space_texts
    )


value_texts = st.recursive(
    st.sampled_from(["null", "true", "false"]) | number_texts | string_texts,
    lambda inner: arrays(inner) | objects(inner).map(Written.value),
    max_leaves=8,
)


@st.composite
def documents(draw: st.DrawFn, /, **needed: st.SearchStrategy[str]) -> Written:
    """Make an object with a model, some other members, and what else is needed."""
    made = draw(objects(value_texts))
    for name in WORDS:
        made = made.without(name)
    members = {"model": string_texts, **needed}
    given_members = [(draw(called(name)), draw(of)) for name, of in members.items()]
    return made._replace(members=draw(st.permutations(made.members + given_members)))


def streams(**needed: st.SearchStrategy[str]) -> st.SearchStrategy[Written]:
    return documents(stream=st.just("true"), **needed)


def call(text: str, dialect: Dialect = CHAT) -> CallBody:
    return parse_call(text.encode(), dialect)


def sent(text: str) -> str:
    """Return what is sent of a chat completion to a target of the same name."""
    body = call(text)
    return body.with_model(body.model).decode()


names = st.text(max_size=8)
without_stream = {"stream": st.sampled_from(["false", "null", '"true"', "1", "[true]"])}


@given(
    document=documents() | documents(**without_stream),
    dialect=st.sampled_from(Dialect),
    name=names,
)
def test_the_name_of_the_model_alone_is_replaced(
    document: Written, dialect: Dialect, name: str
) -> None:
    text = document.text()

    body = call(text, dialect)
    replaced = body.with_model(name).decode()

    before = parsed(text)
    assert (body.model, body.members) == (before["model"], before)
    if name == body.model:
        assert replaced == text
    else:
        assert replaced == document.text(model=orjson.dumps(name).decode())
        assert parsed(replaced) == before | {"model": name}


@given(
    document=streams() | streams(stream_options=value_texts),
    dialect=st.sampled_from([each for each in Dialect if each is not CHAT]),
)
def test_streams_of_other_dialects_are_not_asked_for_usage(
    document: Written, dialect: Dialect
) -> None:
    text = document.text()

    body = call(text, dialect)

    assert body.with_model(body.model) == text.encode()
    assert body.is_stream
    assert not body.withholds_usage


@given(document=documents(**without_stream, stream_options=value_texts))
def test_what_is_no_stream_is_not_asked_for_usage(document: Written) -> None:
    text = document.text()

    assert sent(text) == text
    assert not call(text).is_stream
    assert not call(text).withholds_usage


@given(document=streams())
def test_a_stream_without_options_is_asked_for_its_usage(document: Written) -> None:
    text = document.text()

    asked = sent(text)

    options = {"stream_options": {"include_usage": True}}
    assert asked == document.text(added=f',"stream_options":{{{ASKED}}}')
    assert parsed(asked) == parsed(text) | options
    assert call(text).withholds_usage


@given(document=streams(stream_options=st.just("null")))
def test_options_that_are_null_are_replaced(document: Written) -> None:
    text = document.text()

    asked = sent(text)

    assert asked == document.text(stream_options=f"{{{ASKED}}}")
    assert call(text).withholds_usage


@st.composite
def options(draw: st.DrawFn, include_usage: str | None) -> Written:
    made = draw(objects(value_texts)).without("include_usage")
    if include_usage is None:
        return made
    member = draw(called("include_usage")), include_usage
    return made._replace(members=draw(st.permutations([*made.members, member])))


@given(data=st.data(), made=options(None))
def test_other_options_stay_beside_the_one_that_is_added(
    data: st.DataObject, made: Written
) -> None:
    document = data.draw(streams(stream_options=st.just(made.value())))
    text = document.text()

    asked = sent(text)

    comma = "," if made.members else ""
    added = made.value().replace("{", f"{{{ASKED}{comma}", 1)
    assert asked == document.text(stream_options=added)
    expected = {**parsed(made.text()), "include_usage": True}
    assert parsed(asked) == parsed(text) | {"stream_options": expected}
    assert call(text).withholds_usage


@given(data=st.data(), made=options("null"))
def test_an_option_that_is_null_is_replaced(data: st.DataObject, made: Written) -> None:
    document = data.draw(streams(stream_options=st.just(made.value())))

    asked = sent(document.text())

    added = made.value(include_usage="true")
    assert asked == document.text(stream_options=added)
    assert call(document.text()).withholds_usage


respected = st.sampled_from(["true", "false", '"false"', "0", "[]", "{}"])


@given(document=streams(stream_options=respected.flatmap(options).map(Written.value)))
def test_a_client_that_says_whether_it_wants_usage_is_respected(
    document: Written,
) -> None:
    text = document.text()

    assert sent(text) == text
    assert not call(text).withholds_usage


@pytest.mark.parametrize(
    "given_options", ["true", "false", "0", '""', "[]", '[{"a":1}]']
)
def test_options_that_are_no_object_are_for_the_provider_to_refuse(
    given_options: str,
) -> None:
    text = f'{{"model":"fast","stream":true,"stream_options":{given_options}}}'

    assert sent(text) == text
    assert not call(text).withholds_usage


@given(document=streams() | streams(stream_options=st.just("null")), name=names)
def test_both_edits_are_made_wherever_the_members_stand(
    document: Written, name: str
) -> None:
    text = document.text()

    body = call(text)
    edited = body.with_model(name)

    usage = {"stream_options": {"include_usage": True}}
    assert parsed(edited) == parsed(text) | {"model": name} | usage


def test_a_body_is_edited_anew_for_each_target() -> None:
    body = call('{"model":"fast", "stream":true}')

    sent_to = [body.with_model(each) for each in ("first", "fast", "sécond")]

    end = ', "stream":true,"stream_options":{"include_usage":true}}'
    assert [each.decode() for each in sent_to] == [
        f'{{"model":"first"{end}',
        f'{{"model":"fast"{end}',
        f'{{"model":"sécond"{end}',
    ]


def test_a_dropped_body_still_says_whether_usage_is_withheld() -> None:
    body = call('{"model":"fast","stream":true}')

    body.drop()

    assert (body.content, body.members) == (b"", {})
    assert body.withholds_usage
    assert body.is_stream
