"""Headers in and out, and the answers that no operation makes."""

import re
from uuid import uuid4

import pytest
from multidict import CIMultiDict

from service.resources import Resources
from tests.integration.http.raw import answer_to_head
from tests.support.callers import Caller, Callers
from tests.support.connectors.making import TRACKER
from tests.support.reading import read_events

CONNECTORS = "/api/mcp/connectors"
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


async def test_a_request_id_comes_back_and_stands_in_the_refusal(
    edge: Callers,
) -> None:
    reply = await edge.anonymous().get("/api/users/me", X_Request_Id="order-66_a.b")

    assert reply.headers["X-Request-Id"] == "order-66_a.b"
    assert reply.data["request_id"] == "order-66_a.b"


@pytest.mark.parametrize("given", ["", "a b", "a" * 65, "<script>", "é"])
async def test_a_request_id_of_another_form_is_replaced(
    edge: Callers, given: str
) -> None:
    reply = await edge.anonymous().get("/api/users/me", X_Request_Id=given)

    assert re.fullmatch("[0-9a-f]{32}", reply.headers["X-Request-Id"])


async def test_the_event_remembers_who_asked_and_in_which_trace(
    ada: Caller, resources: Resources
) -> None:
    reply = await ada.post(
        CONNECTORS, TRACKER, X_Request_Id="of-ada", traceparent=TRACEPARENT
    )

    [recorded] = await read_events(
        resources.log, after=reply.position - 1, upto=reply.position, limit=1
    )
    assert recorded.metadata["actor"] == str(ada.user_id)
    assert recorded.metadata["request_id"] == "of-ada"
    assert recorded.metadata["traceparent"] == TRACEPARENT


@pytest.mark.parametrize(
    "given",
    [
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "nonsense",
    ],
)
async def test_a_broken_traceparent_is_ignored(
    ada: Caller, resources: Resources, given: str
) -> None:
    reply = await ada.post(CONNECTORS, TRACKER, traceparent=given)

    [recorded] = await read_events(
        resources.log, after=reply.position - 1, upto=reply.position, limit=1
    )
    assert "traceparent" not in recorded.metadata


async def test_answers_have_headers_against_sniffing_and_caching(ada: Caller) -> None:
    for reply in (await ada.get("/api/users/me"), await ada.get("/api/nowhere")):
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["Server"] == "agent-runtime"


async def test_an_operation_may_say_itself_how_long_its_answer_keeps(
    edge: Callers,
) -> None:
    reply = await edge.anonymous().get("/test/cached")

    assert reply.headers["Cache-Control"] == "max-age=60"


async def test_an_unknown_path_is_404_with_and_without_a_token(
    edge: Callers, ada: Caller
) -> None:
    for caller in (ada, edge.anonymous()):
        reply = await caller.get("/api/nowhere")
        assert (reply.status, reply.code) == (404, "no_such_path")


async def test_another_method_is_405_and_says_which_are_allowed(ada: Caller) -> None:
    reply = await ada.call("PATCH", CONNECTORS)

    assert (reply.status, reply.code) == (405, "method_not_allowed")
    assert set(reply.headers["Allow"].split(",")) == {"GET", "HEAD", "POST"}


async def test_head_answers_as_get_without_the_body(ada: Caller) -> None:
    bearer = {"Authorization": f"Bearer {ada.token}"}

    got = await ada.client.get("/api/users/me", headers=bearer)
    headed = await ada.client.head("/api/users/me", headers=bearer)

    assert (headed.status, await headed.read()) == (200, b"")
    assert headed.headers["Content-Length"] == got.headers["Content-Length"]
    assert (await ada.client.head("/api/users/me")).status == 401


async def test_a_stale_if_match_is_refused_and_a_fresh_one_not(ada: Caller) -> None:
    made = await ada.post(CONNECTORS, TRACKER)
    path = f"{CONNECTORS}/{made.data['id']}/grants/public"

    stale = await ada.post(path, If_Match='"7"')
    # As behind a proxy that compressed the answer.
    fresh = await ada.post(path, If_Match="W/" + made.headers["ETag"])

    assert (stale.status, stale.code) == (412, "precondition_failed")
    assert fresh.status == 201


@pytest.mark.parametrize(
    "given", ["1", '"a"', 'w/"1"', "W/1", "*", '"1", "2"', '""', '"-1"']
)
async def test_an_if_match_that_is_no_etag_of_ours_is_refused(
    ada: Caller, given: str
) -> None:
    reply = await ada.post(f"{CONNECTORS}/{uuid4()}/grants/public", If_Match=given)

    assert (reply.status, reply.data["errors"][0]["path"]) == (400, "If-Match")


async def test_an_unsupported_if_match_is_refused_without_effect(
    ada: Caller, resources: Resources
) -> None:
    before = await resources.log.head()

    reply = await ada.post(CONNECTORS, TRACKER, If_Match='"1"')

    assert (reply.status, reply.data["errors"][0]["path"]) == (400, "If-Match")
    assert await resources.log.head() == before


IMPORTS = "/api/llm-router/prices/imports"
TAKE_NO_KEY = (
    f"POST {IMPORTS}/genai-prices",
    f"POST {IMPORTS}/litellm?version=1",
    "POST /api/llm-router/reprice",
    "POST /v1/traces",
    "POST /v1/logs",
    "POST /v1/metrics",
)


@pytest.mark.parametrize(
    ("operation", "header"),
    [
        ("GET /api/users/me", "If-Match"),
        *((each, "If-Match") for each in TAKE_NO_KEY),
        *((each, "Idempotency-Key") for each in TAKE_NO_KEY),
    ],
)
async def test_a_header_that_an_operation_does_not_take_is_refused(
    callers: Callers, resources: Resources, operation: str, header: str
) -> None:
    root = await callers.user("root", "superuser")
    before = await resources.log.head()
    method, path = operation.split(" ")

    headers = {"Authorization": f"Bearer {root.token}", header: '"1"'}
    async with root.client.request(method, path, headers=headers) as answer:
        body = await answer.read()

    assert answer.status == 400
    assert f"this operation takes no {header}".encode() in body
    assert await resources.log.head() == before


async def test_a_read_may_come_with_an_idempotency_key(ada: Caller) -> None:
    assert (await ada.get("/api/users/me", Idempotency_Key="a")).status == 200


@pytest.mark.parametrize("given", ["", "a" * 256, "tab\there", "é\u200b"])
async def test_an_idempotency_key_of_another_form_is_refused(
    ada: Caller, given: str
) -> None:
    reply = await ada.post(CONNECTORS, TRACKER, Idempotency_Key=given)

    assert (reply.status, reply.data["errors"][0]["path"]) == (400, "Idempotency-Key")


async def test_a_key_used_again_replays_and_with_another_body_is_refused(
    ada: Caller,
) -> None:
    first = await ada.post(CONNECTORS, TRACKER, Idempotency_Key="monday")

    again = await ada.post(CONNECTORS, TRACKER, Idempotency_Key="monday")
    other = await ada.post(
        CONNECTORS, {**TRACKER, "name": "Other"}, Idempotency_Key="monday"
    )

    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.position == first.position
    assert (other.status, other.code) == (422, "idempotency_key_reused")


async def test_a_key_belongs_to_its_user(edge: Callers, ada: Caller) -> None:
    eve = await edge.user("eve")
    first = await ada.post(CONNECTORS, TRACKER, Idempotency_Key="monday")

    second = await eve.post(CONNECTORS, TRACKER, Idempotency_Key="monday")

    assert second.status == 201
    assert second.data["id"] != first.data["id"]


async def test_a_position_beyond_the_log_is_refused_at_once(callers: Callers) -> None:
    ada = await callers.user("ada")

    reply = await ada.get(CONNECTORS, X_Min_Position="1000000")

    assert (reply.status, reply.code) == (412, "position_beyond_log")


@pytest.mark.parametrize("name", ["Authorization", "If-Match", "Idempotency-Key"])
async def test_a_header_given_twice_is_refused(ada: Caller, name: str) -> None:
    sent = [("Authorization", f"Bearer {ada.token}"), (name, '"1"'), (name, '"1"')]

    async with ada.client.get("/api/users/me", headers=CIMultiDict(sent)) as answer:
        body = await answer.json()

    assert answer.status == 400
    assert body["data"]["errors"] == [{"path": name, "message": "given more than once"}]


@pytest.mark.parametrize("coding", ["br", "nonsense"])
async def test_an_unsupported_encoding_is_415_and_closes_the_connection(
    ada: Caller, coding: str
) -> None:
    head = await answer_to_head(
        ada.client,
        f"POST {CONNECTORS}",
        {
            "Authorization": f"Bearer {ada.token}",
            "Content-Type": "application/json",
            "Content-Encoding": coding,
            "Content-Length": "10",
        },
    )

    assert head.startswith(b"HTTP/1.1 415 ")
    assert b"\r\nConnection: close\r\n" in head
