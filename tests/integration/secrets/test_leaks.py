"""No value of a secret anywhere but in the answer that reveals it.

Every value of this test begins and ends with one mark, so that looking for the mark,
in each encoding, is looking for all of them.
"""

import asyncio
import base64
import secrets
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import aiohttp
import psycopg
import pytest

from service.embedded_postgres.server import EmbeddedPostgres
from tests.support.secrets.served import Client, postgres_program, served

pytestmark = pytest.mark.thorough

VALUES = 200
USERS = 20


def new_mark() -> str:
    return secrets.token_hex(8)


def encodings(mark: str) -> Mapping[str, list[bytes]]:
    """Return what a text that holds the mark looks like, wherever the mark stands.

    A dump writes bytes in hex, so all of it is looked for in hex, too.
    """
    raw = mark.encode()
    shifted = [base64.b64encode(bytes(shift) + raw) for shift in range(3)]
    patterns = {
        "as it is": [raw],
        # Without the first and last characters, which its neighbours shape.
        "base64": [one[4:-4] for one in shifted],
        "hex": [raw.hex().encode(), raw.hex().upper().encode()],
        "utf-16": [mark.encode("utf-16-le")],
    }
    return {
        name: [*those, *(one.hex().encode() for one in those)]
        for name, those in patterns.items()
    }


def in_encoding(text: str, name: str) -> bytes:
    raw = text.encode()
    return {
        "as it is": raw,
        "base64": base64.b64encode(raw),
        "hex": raw.hex().encode(),
        "utf-16": text.encode("utf-16-le"),
    }[name]


def found(mark: str, places: Mapping[str, list[bytes]]) -> set[tuple[str, str]]:
    """Return (place, encoding) of everywhere that the mark is."""
    return {
        (place, name)
        for place, contents in places.items()
        for content in contents
        for name, patterns in encodings(mark).items()
        if any(pattern in content for pattern in patterns)
    }


def pg_dump(data_dir: Path) -> bytes:
    url = EmbeddedPostgres.url_of_running(data_dir)
    return subprocess.run(
        [postgres_program("pg_dump"), url], check=True, capture_output=True
    ).stdout


def files_in(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path.read_bytes()


async def whole_life(user: Client, name: str, value: str) -> None:
    """Do with a secret whatever can be done, also wrong."""
    path = f"/api/secrets/{name}"
    body = {"value": value}
    # Refused, before there is a secret.
    assert (await user.call("PUT", path, body)).status == 404
    await user.call("POST", "/api/secrets", {"name": value + "/", "value": value})
    assert (
        await user.call("POST", "/api/secrets", {"name": name, **body})
    ).status == 201
    # Refused, for many reasons.
    for method, where, sent, headers in [
        ("POST", "/api/secrets", {"name": name, **body}, {}),
        ("PUT", path, body, {"If-Match": '"9"'}),
        ("PUT", path, body, {"Content-Type": "text/plain"}),
        ("PUT", path, {"value": [value]}, {}),
        ("PUT", path, {"value": {"nested": value}}, {}),
        ("PUT", path, {**body, "extra": value}, {}),
        ("PUT", path, {"value": value * 3000}, {}),
        ("PUT", path, f'{{"value": "{value}"'.encode(), {}),
        ("PUT", path, f'{{"value": "{value}\\ud800"}}'.encode(), {}),
        ("PUT", path, f'{{"value": "{value}", "value": "{value}"}}'.encode(), {}),
        ("PUT", path, f"[[{{}} {value}".encode(), {}),
        ("GET", f"{path}/value?value={value}", None, {}),
        ("GET", f"{path}/value?version={value}", None, {}),
        ("GET", f"{path}/{value}", None, {}),
        ("GET", f"/api/secrets?after={value}/", None, {}),
    ]:
        refused = await user.call(method, where, sent, headers=headers)
        assert 400 <= refused.status < 500
    key = {"Idempotency-Key": "once"}
    assert (await user.call("PUT", path, body, headers=key)).status == 200
    assert (await user.call("PUT", path, body, headers=key)).status == 200
    assert (
        await user.call("PUT", path, body, headers={"If-Match": '"2"'})
    ).status == 200
    assert (await user.call("POST", f"{path}/versions/1/restore")).status == 200
    revealed = await user.call("GET", f"{path}/value", is_reveal=True)
    assert revealed.data["value"] == value
    await user.call("GET", path)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "data", tmp_path / "log"


@pytest.mark.timeout(1200)
async def test_values_are_nowhere_but_in_the_answers_that_reveal_them(
    folders: tuple[Path, Path],
) -> None:
    data_dir, log = folders
    mark, planted = new_mark(), new_mark()
    values = [f"{mark} {secrets.token_hex(12)} {mark}" for _ in range(VALUES)]
    heard: list[bytes] = []

    async with aiohttp.ClientSession() as session:
        with served(data_dir, log) as service:
            admin = Client(session, service.url, service.admin_token, heard)
            users = [await admin.new_user(f"user{number}") for number in range(USERS)]
            for start in range(0, VALUES, USERS):
                batch = enumerate(values[start : start + USERS])
                await asyncio.gather(
                    *(
                        whole_life(users[number], f"s{start}", value)
                        for number, value in batch
                    )
                )
            for start in range(0, VALUES, 2 * USERS):
                for user in users:
                    await user.call("DELETE", f"/api/secrets/s{start}")
            await damage_one_value(data_dir, users)
            # A crash in the midst of requests; no core is left, the log recovers.
            last = asyncio.gather(
                *(
                    user.call("PUT", f"/api/secrets/s{USERS}", {"value": value})
                    for user in users
                    for value in values[:10]
                ),
                return_exceptions=True,
            )
            await asyncio.sleep(0.01)
            service.send(signal.SIGSEGV)
            await last

        with served(data_dir, log) as service:
            user = Client(session, service.url, users[0].token, heard)
            again = await user.call(
                "GET", f"/api/secrets/s{USERS}/value", is_reveal=True
            )
            assert again.data["value"] in values
            for name in encodings(planted):
                plant(data_dir, in_encoding(f"x {planted} x", name))
            # An id of a request is said again in its answer and in the log.
            await user.call("GET", "/metrics", headers={"X-Request-Id": planted})
            dump = pg_dump(data_dir)

    metrics = [one for one in heard if b"http_server_request_duration" in one]
    places = {
        "dump of the database": [dump],
        "data folder, with the write-ahead log": list(files_in(data_dir)),
        "logs": [log.read_bytes()],
        "answers": heard,
        "metrics": metrics,
    }
    assert metrics
    assert found(mark, places) == set()
    in_database = {
        (place, name)
        for place in ("dump of the database", "data folder, with the write-ahead log")
        for name in encodings(planted)
    }
    expected = in_database | {("logs", "as it is"), ("answers", "as it is")}
    assert found(planted, places) >= expected
    assert not list(Path.cwd().glob("core*"))


def plant(data_dir: Path, content: bytes) -> None:
    """Put something where a dump and the files of the database must show it."""
    with psycopg.connect(
        EmbeddedPostgres.url_of_running(data_dir), autocommit=True
    ) as db:
        db.execute("CREATE TABLE IF NOT EXISTS planted (as_text text, as_bytes bytea)")
        text = content.decode("latin-1").replace("\0", "")
        db.execute("INSERT INTO planted VALUES (%s, %b)", [text, content])
        db.execute("CHECKPOINT")


async def damage_one_value(data_dir: Path, users: list[Client]) -> None:
    """Let opening fail inside, while the value's bytes are being worked on."""
    with psycopg.connect(
        EmbeddedPostgres.url_of_running(data_dir), autocommit=True
    ) as db:
        db.execute(
            "UPDATE events.sealed_value"
            "   SET sealed = set_byte(sealed, 150, get_byte(sealed, 150) # 1)"
        )
    damaged = await users[1].call("GET", f"/api/secrets/s{USERS}/value")
    assert damaged.status == 500
    assert damaged.data["code"] == "unreadable_value"
    with psycopg.connect(
        EmbeddedPostgres.url_of_running(data_dir), autocommit=True
    ) as db:
        db.execute(
            "UPDATE events.sealed_value"
            "   SET sealed = set_byte(sealed, 150, get_byte(sealed, 150) # 1)"
        )
