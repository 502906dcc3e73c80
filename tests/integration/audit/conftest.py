import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from service.database import READER_ROLE
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.tool_rules.setting import Setting


@pytest.fixture
def setting(resources: Resources) -> Setting:
    return Setting(resources)


@pytest.fixture
async def auditor(callers: Callers) -> Caller:
    return await callers.user("olga", "auditor")


@pytest.fixture
def reviewer(resources: Resources) -> str:
    """A login that may do nothing but what auditors may, in a database to read."""
    name = f"reviewer_{resources.database_url.split('dbname=')[1].split()[0]}"
    with psycopg.connect(resources.database_url, autocommit=True) as db:
        db.execute(f"CREATE ROLE {name} LOGIN")
        db.execute(f"GRANT {READER_ROLE} TO {name}")
        # As on a replica, nothing can be written, whatever one asks for.
        db.execute(f"ALTER ROLE {name} SET default_transaction_read_only = on")
    return make_conninfo(resources.database_url, user=name)
