"""Lists and versions of secrets over HTTP."""

from service.resources import Resources
from service.secrets.aggregate import VERSIONS_KEPT
from tests.integration.secrets.asking import PATH, TOKEN
from tests.support.callers import Caller, Callers


async def test_the_list_has_ones_own_secrets_by_name(
    ada: Caller, callers: Callers
) -> None:
    bob = await callers.user("bob", "superuser", "auditor")
    created = [
        await ada.post("/api/secrets", {"name": name, "value": "x"})
        for name in ("_b", "a", "B")
    ]
    last = created[-1].headers["X-Event-Position"]
    listed = await ada.get("/api/secrets", X_Min_Position=last)
    assert [each["name"] for each in listed.data["secrets"]] == [
        "B",
        TOKEN["name"],
        "_b",
        "a",
    ]
    assert listed.data["end_cursor"] is None
    assert listed.headers["Cache-Control"] == "no-store"
    entry = dict(listed.data["secrets"][0])
    assert entry.pop("created_at") == entry["updated_at"]
    assert entry == created[-1].data
    others = await bob.get("/api/secrets", X_Min_Position=last)
    assert others.data["secrets"] == []


async def test_the_list_is_read_page_by_page(ada: Caller) -> None:
    for number in range(4):
        last = await ada.post("/api/secrets", {"name": f"s{number}", "value": "x"})
    waited = {"X_Min_Position": last.headers["X-Event-Position"]}
    first = await ada.get("/api/secrets?limit=2", **waited)
    after = first.data["end_cursor"]
    second = await ada.get(f"/api/secrets?limit=2&after={after}", **waited)
    third = await ada.get("/api/secrets?limit=2&after=s2", **waited)
    pages = [page.data["secrets"] for page in (first, second, third)]
    names = [[each["name"] for each in page] for page in pages]
    assert names == [[TOKEN["name"], "s0"], ["s1", "s2"], ["s3"]]
    for bad in ("limit=0", "limit=101", "after=a/b", "limit=1&limit=1", "x=1"):
        assert (await ada.get(f"/api/secrets?{bad}")).status == 400, bad


async def test_a_secret_tells_who_set_which_version_and_what_is_left(
    ada: Caller,
) -> None:
    for number in range(VERSIONS_KEPT):
        await ada.put(PATH, {"value": f"tarpon {number}"})
    last = await ada.post(f"{PATH}/versions/3/restore")
    waited = {"X_Min_Position": last.headers["X-Event-Position"]}
    reply = await ada.get(PATH, **waited)
    assert reply.status == 200
    assert reply.headers["ETag"] == f'"{VERSIONS_KEPT + 2}"'
    assert reply.data["version"] == VERSIONS_KEPT + 2
    assert reply.data["fingerprint"] == last.data["fingerprint"]
    assert reply.data["end_cursor"] is None
    versions = reply.data["versions"]
    assert [each["version"] for each in versions] == list(range(12, 0, -1))
    assert {each["created_by"] for each in versions} == {str(ada.user_id)}
    assert versions[0]["restored_version"] == 3
    assert versions[0]["fingerprint"] == versions[-3]["fingerprint"]
    destroyed = [each["version"] for each in versions if each["destroyed_at"]]
    assert destroyed == [2, 1]
    assert b"tarpon" not in reply.body
    page = await ada.get(f"{PATH}?limit=5&before=8", **waited)
    assert [each["version"] for each in page.data["versions"]] == [7, 6, 5, 4, 3]
    assert page.data["end_cursor"] == 3


async def test_a_deleted_secret_is_not_shown_until_it_is_created_again(
    ada: Caller,
) -> None:
    deleted = await ada.delete(PATH)
    waited = {"X_Min_Position": deleted.headers["X-Event-Position"]}
    assert (await ada.get(PATH, **waited)).status == 404
    assert (await ada.get("/api/secrets", **waited)).data["secrets"] == []
    again = await ada.post("/api/secrets", {**TOKEN, "value": "tarpon"})
    waited = {"X_Min_Position": again.headers["X-Event-Position"]}
    reply = await ada.get(PATH, **waited)
    assert [each["version"] for each in reply.data["versions"]] == [2, 1]
    assert reply.data["created_at"] == reply.data["updated_at"]


async def test_asking_for_the_head_of_a_value_reveals_nothing(
    ada: Caller, resources: Resources
) -> None:
    before = await resources.log.head()

    async with ada.client.head(
        f"{PATH}/value", headers={"Authorization": f"Bearer {ada.token}"}
    ) as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "GET")

    assert await resources.log.head() == before
