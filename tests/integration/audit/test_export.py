"""The trail as files: complete, ordered, harmless to spreadsheets, on record."""

import csv
import re
from io import StringIO

import pytest

from projections.audit.trail.export import FORMULA_STARTS
from service.resources import Resources
from tests.support.audit.reading import exported, opened, text
from tests.support.callers import Caller, Callers
from tests.support.reading import read_events


async def test_an_export_is_longer_than_a_batch(
    callers: Callers, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.audit.trail.export.BATCH_ENTRIES", 7)
    auditor = await callers.user("olga", "auditor")
    for number in range(20):
        await callers.user(f"user{number}")

    made = (await resources.log.head()).position
    everything = await exported(auditor)
    users = await exported(auditor, "?kind=user.created", reflecting=made)
    part = await exported(auditor, "?from_position=9&until_position=30")

    head = (await resources.log.head()).position
    assert [line["position"] for line in everything] == [*range(1, head - 1)]
    assert everything[0]["what"] == f"created the user olga ({auditor.user_id})"
    assert len(users) == 21
    assert [line["position"] for line in part] == [*range(9, 31)]


async def test_an_export_waits_for_a_position_as_a_page_does(
    auditor: Caller, resources: Resources
) -> None:
    beyond = (await resources.log.head()).position + 9

    reply = await auditor.get("/api/audit/export.jsonl", X_Min_Position=str(beyond))

    assert (reply.status, reply.code) == (412, "position_beyond_log")


async def test_an_export_is_one_reading(auditor: Caller, resources: Resources) -> None:
    before = (await resources.log.head()).position

    await exported(auditor, "?kind=user")
    await text(auditor, "/api/audit/export.csv")

    recorded = await read_events(resources.log, after=before)
    assert [(each.event.operation, each.event.asked) for each in recorded] == [
        ("get_audit_jsonl", {"kind": "user"}),
        ("get_audit_csv", {}),
    ]


async def test_csv_is_what_the_list_shows(auditor: Caller) -> None:
    shown = (await auditor.get("/api/audit/events?order=oldest")).data["entries"]

    rows = [*csv.DictReader(StringIO(await text(auditor, "/api/audit/export.csv")))]

    for row, entry in zip(rows, shown, strict=False):
        assert int(row["position"]) == entry["position"]
        assert row["actor_id"] == (entry["actor_id"] or "")
        assert row["resource_id"] == entry["resource"]["id"]
        assert row["what"] == entry["what"]


async def test_no_cell_is_a_formula(callers: Callers) -> None:
    auditor = await callers.user("olga", "auditor")
    ada = await callers.user("ada")
    for start in FORMULA_STARTS:
        name = f'{start}HYPERLINK("https://evil.example"),\'1'
        reply = await ada.post("/api/catalog/agents", {"name": name.strip()})
        assert reply.status == 201 or start.isspace(), reply.body

    read = csv.reader(
        StringIO(await text(auditor, "/api/audit/export.csv"), newline="")
    )

    cells = [cell for row in read for cell in row]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not any(cell.startswith(FORMULA_STARTS) for cell in cells)


@pytest.mark.parametrize(
    ("form", "content_type"),
    [("jsonl", "application/x-ndjson"), ("csv", "text/csv")],
)
async def test_an_export_is_a_file(
    auditor: Caller, form: str, content_type: str
) -> None:
    async with opened(auditor, f"/api/audit/export.{form}") as response:
        assert response.content_type == content_type
        assert response.headers["Content-Disposition"] == (
            f'attachment; filename="audit.{form}"'
        )
        assert response.headers["X-Request-Id"]
        assert response.headers["X-Log-Epoch"]
        assert response.headers["Cache-Control"] == "no-store"


async def test_head_of_an_export_has_no_body(auditor: Caller) -> None:
    response = await auditor.client.head(
        "/api/audit/export.jsonl", headers={"Authorization": f"Bearer {auditor.token}"}
    )

    assert (response.status, await response.read()) == (200, b"")


@pytest.mark.parametrize("separator", [";", "; ", "|", '";'])
async def test_no_cell_begins_behind_another_separator(
    callers: Callers, separator: str
) -> None:
    auditor = await callers.user("olga", "auditor")
    ada = await callers.user("ada")
    await ada.post("/api/catalog/agents", {"name": f"Agent{separator}=1+1"})

    exported = await text(auditor, "/api/audit/export.csv")

    assert "1+1" in exported
    assert not re.search(r"[;|][ \"]*=", exported)
