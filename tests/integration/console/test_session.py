"""The cookie of the console: who gets it, what it holds, and who is believed."""

from datetime import UTC, datetime, timedelta
from http.cookies import Morsel, SimpleCookie
from typing import Any

import pytest
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient

from service.console.routes import SESSION_MAX_S, SIGN_IN_CODES
from service.http.browser_session import COOKIE, LOOPBACK_COOKIE
from service.users.tokens import new_token
from tests.support.callers import Callers

OWN_PAGE = {"X-Agent-Runtime-Console": "1", "Sec-Fetch-Site": "same-origin"}


def origin_of(client: TestClient) -> str:
    return str(client.make_url("")).rstrip("/")


async def enter(client: TestClient, body: Any, **headers: str) -> ClientResponse:
    sent = {**OWN_PAGE, "Origin": origin_of(client), **headers}
    given = {name: value for name, value in sent.items() if value}
    return await client.post("/console/session", json=body, headers=given)


def cookie_in(response: ClientResponse) -> "Morsel[str]":
    (morsel,) = SimpleCookie(response.headers["Set-Cookie"]).values()
    return morsel


async def test_a_token_becomes_a_cookie(client: TestClient, callers: Callers) -> None:
    ada = await callers.user("ada")

    response = await enter(client, {"token": ada.token})

    cookie = cookie_in(response)
    assert response.status == 200
    assert (cookie.key, cookie.value) == (LOOPBACK_COOKIE, ada.token)
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
    assert (cookie["path"], cookie["domain"]) == ("/", "")
    assert int(cookie["max-age"]) == SESSION_MAX_S


async def test_elsewhere_the_cookie_needs_tls(
    client: TestClient, callers: Callers
) -> None:
    ada = await callers.user("ada")
    host = "runtime.example"

    response = await enter(
        client, {"token": ada.token}, Host=host, Origin=f"https://{host}"
    )

    cookie = cookie_in(response)
    assert (cookie.key, cookie["secure"]) == (COOKIE, True)


async def test_the_cookie_ends_with_the_token(
    client: TestClient, callers: Callers
) -> None:
    ada = await callers.user("ada")
    expires_at = datetime.now(UTC) + timedelta(minutes=5)
    issued = await ada.post(
        f"/api/users/{ada.user_id}/tokens",
        {"label": "short", "expires_at": expires_at.isoformat()},
    )
    token = issued.data["token"]

    cookie = cookie_in(await enter(client, {"token": token}))
    assert 0 < int(cookie["max-age"]) <= 300

    headers = {**OWN_PAGE, "Cookie": f"{LOOPBACK_COOKIE}={token}"}
    assert (await client.get("/api/users/me", headers=headers)).status == 200
    await ada.delete(f"/api/users/{ada.user_id}/tokens/{issued.data['id']}")
    assert (await client.get("/api/users/me", headers=headers)).status == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"X-Agent-Runtime-Console": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
    ],
    ids=str,
)
async def test_another_page_is_not_believed(
    client: TestClient, callers: Callers, changes: dict[str, str]
) -> None:
    ada = await callers.user("ada")
    cookie = f"{LOOPBACK_COOKIE}={ada.token}"
    sent = {**OWN_PAGE, "Origin": origin_of(client), "Cookie": cookie, **changes}
    headers = {name: value for name, value in sent.items() if value}

    read = await client.get("/api/users/me", headers=headers)
    write = await client.post(
        "/api/catalog/agents", json={"name": "x"}, headers=headers
    )
    signed_in = await enter(client, {"token": ada.token}, **changes)

    assert (read.status, write.status, signed_in.status) == (401, 401, 403)
    assert "Set-Cookie" not in signed_in.headers


async def test_a_proxy_that_changes_the_host_is_named(
    client: TestClient, callers: Callers
) -> None:
    """As nginx does by default: it sends the host of its upstream."""
    ada = await callers.user("ada")

    refused = await enter(client, {"token": ada.token}, Origin="https://agents.example")

    answer = await refused.json()
    assert (refused.status, answer["data"]["code"]) == (403, "wrong_host")
    assert "the host agents.example" in answer["message"]
    assert "has to pass on Host" in answer["message"]


async def test_a_browser_whose_cookie_was_refused_too_often_gets_the_form(
    client: TestClient,
) -> None:
    """Behind one proxy all have its address; a good token is taken all the same."""
    bad = {**OWN_PAGE, "Cookie": f"{LOOPBACK_COOKIE}={new_token()}"}
    for _ in range(20):
        refused = await client.get("/api/users/me", headers=bad)

    shown = await client.get("/console/session", headers=bad)

    assert refused.status == 429
    assert (shown.status, (await shown.json())["data"]) == (
        200,
        {"signed_in": False, "left_out": []},
    )


async def test_a_change_needs_its_origin_and_a_read_does_not(
    client: TestClient, callers: Callers
) -> None:
    ada = await callers.user("ada")
    headers = {**OWN_PAGE, "Cookie": f"{LOOPBACK_COOKIE}={ada.token}"}
    body = {"name": "Agent of a page"}

    assert (await client.get("/api/users/me", headers=headers)).status == 200
    without = await client.post("/api/catalog/agents", json=body, headers=headers)
    headers["Origin"] = origin_of(client)
    with_origin = await client.post("/api/catalog/agents", json=body, headers=headers)

    assert (without.status, with_origin.status) == (401, 201)


async def test_a_token_in_the_header_counts_before_the_cookie(
    client: TestClient, callers: Callers
) -> None:
    ada, ben = await callers.user("ada"), await callers.user("ben")
    headers = {
        **OWN_PAGE,
        "Cookie": f"{LOOPBACK_COOKIE}={ada.token}",
        "Authorization": f"Bearer {ben.token}",
    }

    response = await client.get("/api/users/me", headers=headers)

    assert (await response.json())["data"]["name"] == "ben"


async def test_signing_out_ends_the_cookie(client: TestClient) -> None:
    headers = {**OWN_PAGE, "Origin": origin_of(client)}

    response = await client.delete("/console/session", headers=headers)

    assert response.status == 200
    assert cookie_in(response)["max-age"] == "0"


async def test_asking_who_is_signed_in_is_no_error(
    client: TestClient, callers: Callers
) -> None:
    ada = await callers.user("ada")
    found = []
    for cookie in ("", f"{LOOPBACK_COOKIE}=wrong", f"{LOOPBACK_COOKIE}={ada.token}"):
        headers = {**OWN_PAGE, "Cookie": cookie} if cookie else OWN_PAGE
        response = await client.get("/console/session", headers=headers)
        found.append((await response.json())["data"]["signed_in"])

    assert found == [False, False, True]


async def test_guesses_of_codes_are_limited(client: TestClient) -> None:
    statuses = [(await enter(client, {"code": "x"})).status for _ in range(12)]

    assert set(statuses) == {401, 429}


async def test_a_code_signs_in_once(client: TestClient, callers: Callers) -> None:
    ada = await callers.user("ada")
    assert ada.token is not None
    code = client.app[SIGN_IN_CODES].issue(ada.token)

    first, second = [await enter(client, {"code": code}) for _ in range(2)]

    assert (first.status, second.status) == (200, 401)
    assert cookie_in(first).value == ada.token


async def test_the_root_sends_browsers_to_the_console_and_names_paths_to_others(
    client: TestClient,
) -> None:
    page = await client.get(
        "/", headers={"Accept": "text/html,*/*"}, allow_redirects=False
    )
    other = await client.get("/", allow_redirects=False)

    assert (page.status, page.headers["Location"]) == (303, "/console")
    assert other.status == 200
    paths = (await other.json())["data"]
    assert {"console", "api_reference", "openapi", "health"} == paths.keys()
    for path in paths.values():
        assert (await client.get(path)).status == 200, path
