"""What the gateway needs of a connector: slug, record mode and credential."""

import pytest

from service.connectors.aggregate import Connector
from service.connectors.credential import CredentialSetting
from service.connectors.gateway_commands import (
    AttachCredential,
    attach_credential,
    callers_secret_name,
    secret_of,
)
from service.connectors.slug import slug_of
from service.errors import ConflictError, ForbiddenError, NotFoundError
from service.secrets.aggregate import Secret
from tests.support.connectors.making import OWNER, ROOT, STRANGER, TRACKER, connector_of
from tests.support.scenario import Scenario

OWNERS: CredentialSetting = {
    "whose": "owner",
    "secret_name": "TRACKER_TOKEN",
    "header": "Authorization",
    "scheme": "Bearer",
}
CALLERS: CredentialSetting = {**OWNERS, "whose": "caller", "secret_name": None}


def secret() -> Secret:
    return Secret(
        owner_id=str(OWNER.user_id),
        name="TRACKER_TOKEN",
        sealed_id="7d3f4d0a-1f6e-4ad4-9d0b-6c6d4b1f0a11",
        fingerprint="",
    )


def with_credential(setting: CredentialSetting = OWNERS) -> Connector:
    connector = connector_of(OWNER)
    connector.attach_credential(setting)
    return connector


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Issue tracker", "issue-tracker"),
        ("  Ünïcode & co. ", "n-code-co"),
        ("日本語", "connector"),
        ("x" * 23 + " yz", "x" * 23),
    ],
)
def test_a_slug_follows_from_the_name(name: str, slug: str) -> None:
    assert slug_of(name) == slug


async def test_the_owner_attaches_a_secret_that_they_have(scenario: Scenario) -> None:
    connector = connector_of(OWNER)
    await scenario.given(connector, secret())
    command = AttachCredential(connector_id=connector.id, setting=OWNERS)

    await scenario.when(attach_credential, command, by=OWNER)

    await scenario.then(("connector.credential_attached", OWNER))
    await scenario.when(attach_credential, command, by=ROOT)
    await scenario.then_refused(ForbiddenError)


async def test_a_secret_that_the_owner_has_not_is_refused(scenario: Scenario) -> None:
    connector = connector_of(OWNER)
    await scenario.given(connector)
    command = AttachCredential(connector_id=connector.id, setting=OWNERS)

    await scenario.when(attach_credential, command, by=OWNER)

    await scenario.then_refused(NotFoundError)


async def test_the_owners_secret_is_not_lent_through_a_public_connector(
    scenario: Scenario,
) -> None:
    connector = connector_of(OWNER, public=True)
    await scenario.given(connector, secret())
    command = AttachCredential(connector_id=connector.id, setting=OWNERS)

    await scenario.when(attach_credential, command, by=OWNER)
    await scenario.then_refused(ConflictError)

    later = with_credential()
    assert secret_of(later, agent_id=None, user_id=None) == (
        OWNER.user_id,
        "TRACKER_TOKEN",
    )
    later.make_public(by=OWNER.user_id, at=Scenario.at)
    assert secret_of(later, agent_id=None, user_id=None) is None


def test_the_callers_secret_is_the_one_they_named_for_the_connector() -> None:
    connector = with_credential(CALLERS)

    assert secret_of(connector, agent_id=None, user_id=None) is None
    assert secret_of(connector, agent_id=None, user_id=STRANGER.user_id) == (
        STRANGER.user_id,
        callers_secret_name(connector.id),
    )


@pytest.mark.parametrize(
    ("url", "is_kept"),
    [
        ("https://tracker.example/v2/mcp", True),
        ("https://TRACKER.example/mcp", True),
        ("https://other.example/mcp", False),
        ("http://tracker.example/mcp", False),
        ("https://tracker.example:8443/mcp", False),
    ],
)
def test_another_host_gets_no_credential(url: str, *, is_kept: bool) -> None:
    connector = with_credential(CALLERS)

    connector.edit(name="Issue tracker", url=url, description="")

    assert (connector.credential is not None) is is_kept


async def test_callers_secrets_go_to_the_host_that_they_were_asked_for(
    scenario: Scenario,
) -> None:
    connector = with_credential(CALLERS)
    connector.hand_over(ROOT.user_id)
    connector.edit(name="Issue tracker", url="https://evil.example/mcp", description="")
    await scenario.given(connector)
    command = AttachCredential(connector_id=connector.id, setting=CALLERS)

    await scenario.when(attach_credential, command, by=ROOT)

    await scenario.then_refused(ConflictError)
    assert scenario.error is not None
    assert scenario.error.code == "connector_moved"
    connector.edit(name="Issue tracker", url=f"{TRACKER['url']}/v2", description="")
    await scenario.given(connector)
    await scenario.when(attach_credential, command, by=ROOT)
    await scenario.then(("connector.credential_attached", ROOT))


def test_no_callers_secret_goes_to_a_host_where_an_older_version_attached_it() -> None:
    connector = with_credential(CALLERS)
    connector.edit(name="Issue tracker", url="https://evil.example/mcp", description="")

    connector.trigger_event(Connector.CredentialAttached, **CALLERS)

    assert connector.credential == CALLERS
    assert secret_of(connector, agent_id=None, user_id=STRANGER.user_id) is None


def test_the_owners_secret_binds_a_connector_to_no_host() -> None:
    connector = with_credential()
    connector.edit(
        name="Issue tracker", url="https://other.example/mcp", description=""
    )

    assert connector.attach_credential(CALLERS)

    assert secret_of(connector, agent_id=None, user_id=STRANGER.user_id) is not None


def test_another_owner_lends_nothing_of_the_former_one() -> None:
    owners, callers = with_credential(), with_credential(CALLERS)

    owners.hand_over(STRANGER.user_id)
    callers.hand_over(STRANGER.user_id)

    assert owners.credential is None
    assert callers.credential == CALLERS
