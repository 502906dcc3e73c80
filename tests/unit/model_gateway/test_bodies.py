"""What the bodies of connections and presets take, and where they say a fault is."""

from typing import Any
from uuid import UUID

import orjson
import pytest
from pydantic import BaseModel, ValidationError

from service.http.validation_errors import problems_of
from service.model_gateway.connections.body import ConnectionBody, NewConnection
from service.model_gateway.presets.body import FALL_BACK_ON, NewPreset, PresetBody
from tests.support.model_gateway import operations
from tests.support.model_gateway.operations import connection, target

ONE, TWO = str(UUID(int=1)), str(UUID(int=2))


def preset(*targets: dict[str, Any], **other: Any) -> dict[str, Any]:
    return operations.preset([*(targets or [target(ONE)])], **other)


def faults(kind: type[BaseModel], body: Any) -> list[str]:
    """Return the places of all faults."""
    try:
        kind.model_validate_json(orjson.dumps(body))
    except ValidationError as error:
        return [problem.path for problem in problems_of(error)]
    return []


def test_a_connection_is_kept_in_one_form() -> None:
    given = connection(
        base_url="https://api.example/v1//",
        dialects=["anthropic_messages", "openai_chat", "anthropic_messages"],
        credential={"secret_name": "key"},
    )

    body = ConnectionBody.model_validate_json(orjson.dumps(given))

    assert body.settings == {
        "name": "Anthropic",
        "base_url": "https://api.example/v1",
        "dialects": ["openai_chat", "anthropic_messages"],
        "provider": "acme",
        "credential": {
            "secret_name": "key",
            "header": "Authorization",
            "scheme": "Bearer",
        },
        "record_mode": "strict",
    }


def test_a_connection_may_send_no_credential() -> None:
    given = connection()
    del given["credential"]

    body = NewConnection.model_validate_json(orjson.dumps(given))

    assert body.settings["credential"] is None


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": " x"}, "name"),
        ({"base_url": "api.example"}, "base_url"),
        ({"base_url": "ftp://api.example"}, "base_url"),
        ({"base_url": "https://key@api.example/v1"}, "base_url"),
        ({"base_url": "https://api.example/v1?api-key=x"}, "base_url"),
        ({"base_url": "https://api.example/v1#x"}, "base_url"),
        ({"base_url": "https://api.example/v1#"}, "base_url"),
        ({"dialects": []}, "dialects"),
        ({"dialects": ["openai_chat"] * 5}, "dialects"),
        ({"dialects": ["openai"]}, "dialects[0]"),
        ({"dialects": ["openai_chat", "OPENAI_CHAT"]}, "dialects[1]"),
        ({"dialects": "openai_chat"}, "dialects"),
        ({"provider": "Anthropic"}, "provider"),
        ({"provider": ""}, "provider"),
        ({"credential": {}}, "credential.secret_name"),
        ({"credential": {"secret_name": ".."}}, "credential.secret_name"),
        (
            {"credential": {"secret_name": "a", "header": "Cookie"}},
            "credential.header",
        ),
        (
            {"credential": {"secret_name": "a", "header": "X-A\r\nB: c"}},
            "credential.header",
        ),
        ({"credential": {"secret_name": "a", "scheme": ""}}, "credential.scheme"),
        ({"credential": {"secret_name": "a", "scheme": "a b"}}, "credential.scheme"),
        ({"credential": {"secret_name": "a", "value": "x"}}, "credential.value"),
        ({"owner_id": ONE}, "owner_id"),
    ],
)
def test_faults_of_a_connection(changes: dict[str, Any], path: str) -> None:
    assert faults(ConnectionBody, connection()) == []
    assert faults(ConnectionBody, connection(**changes)) == [path]


def test_a_change_states_everything() -> None:
    for name in connection():
        given = connection()
        del given[name]
        assert faults(ConnectionBody, given) == [name]
    for name in preset():
        given = preset()
        del given[name]
        assert faults(PresetBody, given) == [name]


@pytest.mark.parametrize(
    ("given", "scheme"),
    [
        ({}, "Bearer"),
        ({"header": "Authorization"}, "Bearer"),
        ({"header": "x-api-key"}, None),
        ({"header": "Authorization", "scheme": None}, None),
        ({"header": "x-api-key", "scheme": "Key"}, "Key"),
    ],
)
def test_bearer_is_for_authorization_alone(
    given: dict[str, Any], scheme: str | None
) -> None:
    asked = connection(credential={"secret_name": "key", **given})

    body = ConnectionBody.model_validate_json(orjson.dumps(asked))

    assert body.settings["credential"] is not None
    assert body.settings["credential"]["scheme"] == scheme


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://h.example", "https://h.example"),
        ("https://h.example/", "https://h.example"),
        ("https://h.example/v1//", "https://h.example/v1"),
        ("https://h.example/v1/?api-version=1", "https://h.example/v1?api-version=1"),
        ("https://h.example/v1?path=a/", "https://h.example/v1?path=a/"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("https://xn--mnchen-3ya.example/v1", "https://xn--mnchen-3ya.example/v1"),
    ],
)
def test_base_urls_that_are_taken(given: str, kept: str) -> None:
    body = ConnectionBody.model_validate_json(orjson.dumps(connection(base_url=given)))

    assert body.settings["base_url"] == kept


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("https://h/v1/../x", "part of its path"),
        ("https://h/./v1", "part of its path"),
        ("https://*", "must be an http or https URL"),
        ("https://..", "must be an http or https URL"),
        ("https://-/", "must be an http or https URL"),
        ("https://h:/v1", "must be an http or https URL"),
        ("https://h:0/v1", "must be an http or https URL"),
        ("https://h,evil/v1", "must be an http or https URL"),
        ("https://%41/v1", "must be an http or https URL"),
        ("HTTPS://h/v1", "must be an http or https URL"),
        ("https://h/v1/chat/completions", "must not end in /chat/completions"),
        ("https://h/v1/messages/", "must not end in /messages"),
        ("https://a:b@h/v1", "must hold no credentials"),
        ("https://h/v1?token=x", "must hold no credentials"),
        ("https://h/v1#a", "must have no fragment"),
    ],
)
def test_base_urls_that_are_refused(given: str, why: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ConnectionBody.model_validate_json(orjson.dumps(connection(base_url=given)))

    (problem,) = problems_of(refused.value)
    assert problem.path == "base_url"
    assert why in problem.message


@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "api-key", "X-Foo"])
def test_headers_of_known_providers_are_taken(header: str) -> None:
    credential = {"secret_name": "a", "header": header, "scheme": None}

    assert faults(ConnectionBody, connection(credential=credential)) == []


def test_a_preset_has_defaults() -> None:
    given = {
        "name": "Coding",
        "groups": [{"targets": [{"connection_id": ONE, "model": "swift-1"}]}],
    }

    body = NewPreset.model_validate_json(orjson.dumps(given))

    assert body.terms == {
        "name": "Coding",
        "description": "",
        "visibility": "private",
        "groups": [
            {
                "targets": [
                    {
                        "connection_id": ONE,
                        "model": "swift-1",
                        "weight": 1,
                        "context_window": None,
                    }
                ]
            }
        ],
        "attempts": 2,
        "total_timeout_s": 1800,
        "first_byte_timeout_s": 300,
        "idle_timeout_s": 120,
        "sticky_s": 3600,
        "fall_back_on": [402, 408, 429, 500, 502, 503, 504, 529],
    }
    assert sorted(FALL_BACK_ON) == FALL_BACK_ON


def test_statuses_are_kept_once_each_and_in_order() -> None:
    given = preset(fall_back_on=[503, 429, 503, 400])

    body = PresetBody.model_validate_json(orjson.dumps(given))

    assert body.terms["fall_back_on"] == [400, 429, 503]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"name": ""}, "name"),
        ({"description": "x" * 2001}, "description"),
        ({"visibility": "Public"}, "visibility"),
        ({"groups": []}, "groups"),
        ({"groups": [{"targets": []}]}, "groups[0].targets"),
        ({"groups": [{}]}, "groups[0].targets"),
        ({"groups": [{"targets": [target(ONE)]}] * 9}, "groups"),
        ({"attempts": 0}, "attempts"),
        ({"attempts": 5}, "attempts"),
        ({"attempts": "2"}, "attempts"),
        ({"total_timeout_s": 0}, "total_timeout_s"),
        ({"first_byte_timeout_s": 7201}, "first_byte_timeout_s"),
        ({"idle_timeout_s": 1.5}, "idle_timeout_s"),
        ({"sticky_s": -1}, "sticky_s"),
        ({"sticky_s": 86_401}, "sticky_s"),
        ({"fall_back_on": [399]}, "fall_back_on[0]"),
        ({"fall_back_on": [400, 600]}, "fall_back_on[1]"),
        ({"fall_back_on": [429] * 51}, "fall_back_on"),
        ({"granted_to": []}, "granted_to"),
    ],
)
def test_faults_of_a_preset(changes: dict[str, Any], path: str) -> None:
    assert faults(PresetBody, preset()) == []
    assert faults(PresetBody, preset(**changes)) == [path]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"connection_id": "7"}, "connection_id"),
        ({"model": ""}, "model"),
        ({"model": "a\nb"}, "model"),
        ({"model": " a"}, "model"),
        ({"weight": 0}, "weight"),
        ({"weight": 1001}, "weight"),
        ({"context_window": 0}, "context_window"),
        ({"context_window": 100_000_001}, "context_window"),
        ({"price": 1}, "price"),
    ],
)
def test_faults_of_a_target(changes: dict[str, Any], name: str) -> None:
    second = {**target(ONE, "b"), **changes}

    path = f"groups[0].targets[1].{name}"
    assert faults(PresetBody, preset(target(ONE, "a"), second)) == [path]


def test_a_group_names_a_model_of_a_connection_once() -> None:
    twice = [target(ONE, "a"), target(ONE, "b"), target(ONE, "a", weight=2)]
    assert faults(PresetBody, preset(*twice)) == ["groups[0].targets"]
    assert faults(PresetBody, preset(target(ONE, "a"), target(TWO, "a"))) == []
    # A later group may try it again.
    again = operations.preset([target(ONE)], [target(ONE)])
    assert faults(PresetBody, again) == []


def test_sixteen_targets_in_all_and_no_more() -> None:
    def groups(*sizes: int) -> dict[str, Any]:
        return operations.preset(
            *[[target(ONE, str(each)) for each in range(size)] for size in sizes]
        )

    assert faults(PresetBody, groups(16)) == []
    assert faults(PresetBody, groups(8, 8)) == []
    assert faults(PresetBody, groups(2, 2, 2, 2, 2, 2, 2, 2)) == []
    assert faults(PresetBody, groups(17)) == ["groups[0].targets"]
    assert faults(PresetBody, groups(8, 8, 1)) == ["groups"]
