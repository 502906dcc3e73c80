"""Prefer: handling=strict has warnings refuse a change of rules."""

from tests.integration.gateway.patterns import put
from tests.integration.gateway.world import ALLOW, ASK, DENY, World

STRICT = "handling=strict"


async def test_strict_handling_refuses_warnings_and_records_nothing(
    tracker: World,
) -> None:
    await put(tracker, ("*", ALLOW))
    before = (await tracker.ada.get(f"{tracker.agent}/tools")).data

    reply = await put(
        tracker,
        ("*", DENY),
        ("q", ALLOW),
        ("Delete_*", DENY),
        ("*", DENY),
        ("mcp__a__q", ASK),
        ("**", ASK),
        Prefer=STRICT,
    )

    assert (reply.status, reply.code) == (422, "rule_warnings")
    assert "Preference-Applied" not in reply.headers
    assert [each["path"] for each in reply.data["errors"]] == [
        "rules[2].tool_pattern",
        "rules[4].tool_pattern",
        "rules[5].tool_pattern",
        "rules[4].tool_pattern",
        "rules[1].tool_pattern",
    ]
    assert reply.data["errors"][0]["message"].endswith("'delete_*' was probably meant")
    after = (await tracker.ada.get(f"{tracker.agent}/tools")).data
    assert (after["version"], after["rules"]) == (before["version"], before["rules"])


async def test_strict_handling_names_the_first_rule_of_a_connector_not_held(
    tracker: World,
) -> None:
    await tracker.ada.delete(tracker.grant)

    reply = await put(tracker, ("q", ALLOW), ("*", ALLOW), Prefer=STRICT)

    assert reply.data["errors"] == [
        {
            "path": "rules[0].connector_id",
            "message": "the agent doesn't hold this connector: its tools are denied",
        }
    ]


async def test_strict_handling_is_acknowledged_where_there_are_no_warnings(
    tracker: World,
) -> None:
    strict = await put(tracker, ("*", ALLOW), ("delete_*", DENY), Prefer=STRICT)
    lenient = await put(tracker, ("*", ALLOW), Prefer="handling=lenient, wait=1")
    emptied = await put(tracker, Prefer=STRICT)

    assert [each.status for each in (strict, lenient, emptied)] == [200] * 3
    assert strict.headers["Preference-Applied"] == STRICT
    assert "Preference-Applied" not in lenient.headers
    assert emptied.headers["Preference-Applied"] == STRICT


async def test_a_restore_takes_strict_handling(tracker: World) -> None:
    bad = await put(tracker, ("Q", DENY))
    good = await put(tracker, ("q", DENY))
    path = f"{tracker.agent}/tools/restore"

    refused = await tracker.ada.post(path, {"at": bad.position}, Prefer=STRICT)
    restored = await tracker.ada.post(path, {"at": good.position}, Prefer=STRICT)

    assert (refused.status, refused.code) == (422, "rule_warnings")
    assert [each["path"] for each in refused.data["errors"]] == ["at"]
    assert restored.status == 200
    assert restored.headers["Preference-Applied"] == STRICT
    assert restored.data["version"] == good.data["version"]


async def test_a_kept_answer_is_not_that_of_a_stricter_request(
    tracker: World,
) -> None:
    lenient = await put(tracker, ("Q", DENY), Idempotency_Key="a")
    stricter = await put(tracker, ("Q", DENY), Idempotency_Key="a", Prefer=STRICT)
    refused = await put(tracker, ("Q", DENY), Idempotency_Key="b", Prefer=STRICT)
    changed = await put(tracker, ("q", DENY), Idempotency_Key="b", Prefer=STRICT)
    repeated = await put(tracker, ("q", DENY), Idempotency_Key="b", Prefer=STRICT)

    assert (lenient.status, refused.code) == (200, "rule_warnings")
    assert (stricter.status, stricter.code) == (422, "idempotency_key_reused")
    assert changed.status == repeated.status == 200
    assert repeated.headers["Preference-Applied"] == STRICT
