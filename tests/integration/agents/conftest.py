import pytest

from service.resources import Resources
from tests.support.tool_rules.setting import Setting


@pytest.fixture
def setting(resources: Resources) -> Setting:
    return Setting(resources)
