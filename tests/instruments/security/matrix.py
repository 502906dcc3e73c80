"""The matrix: what each operation answers to whom.

Asked for are things that a superuser has made and owns: an agent, a public connector
that the agent holds, a secret, a price, a session, a user. The callers are plain users
but for their role; the manager manages the
agent, the reader is its reader. Each is also an owner: of secrets
and agents of the same names that they make on the way, since these are everybody's own.
"""

from collections.abc import Mapping
from typing import Final

CALLERS: Final = ("stranger", "auditor", "runtime", "manager", "reader")
# A public operation asks nobody who they are.
UNTOUCHED: Final[Mapping[str, str]] = {
    "get_audit_stream": "never ends; its rights are tested with the stream",
    "post_traces": "refuses span by span, in the words of another protocol",
    "get_root": "public",
    "get_console": "public",
    "get_console_file": "public",
    "get_console_session": "public",
    "post_console_session": "public; takes a token, in tests/integration/console",
    "delete_console_session": "public",
    "post_to_agent": "speaks another protocol, and takes tokens of agents alone",
    "post_to_connector": "as post_to_agent",
    "get_docs": "public",
    "get_docs_asset": "public",
    "get_openapi": "public",
    "get_asyncapi": "public",
    "get_event_schema": "public",
    "get_livez": "public",
    "get_readyz": "public",
    "get_metrics": "public",
}
_ROWS: Final = """
                               stranger  auditor  runtime  manager  reader
    get_me                          200      200      200      200     200
    get_users                       403      200      403      403     403
    get_user                        404      200      404      404     404
    get_user_by_name                403      200      403      200     403
    get_user_tokens                 404      200      404      404     404
    get_console_readyz              200      200      200      200     200
    get_console_metrics             200      200      200      200     200
    get_agents                      200      200      200      200     200
    get_agent                       404      200      404      200     200
    get_connectors                  200      200      200      200     200
    get_connector                   200      200      200      200     200
    get_connector_health            200      200      200      200     200
    get_agent_tools                 404      200      404      200     200
    get_tool_explanation            404      200      404      200     200
    get_connector_tools             404      200      404      404     404
    get_agent_gateway               404      200      404      200     200
    get_agent_tokens                404      403      404      200     403
    get_calls                       200      200      200      200     200
    get_call                        404      200      404      200     404
    get_approvals                   200      200      200      200     200
    get_approval                    404      404      404      200     404
    get_definitions                 200      200      200      200     200
    get_secret_value                404      404      404      404     404
    get_secrets                     200      200      200      200     200
    get_secret                      404      404      404      404     404
    get_session_list                200      200      200      200     200
    get_session                     404      200      404      200     404
    get_usage                       200      200      200      200     200
    get_usage_csv                   200      200      200      200     200
    get_providers                   200      200      200      200     200
    get_prices                      200      200      200      200     200
    get_contracts                   200      200      200      200     200
    get_audit_events                403      200      403      403     403
    get_audit_event                 403      200      403      403     403
    get_audit_jsonl                 403      200      403      403     403
    get_audit_csv                   403      200      403      403     403
    get_aggregate                   403      200      403      403     403
    get_aggregate_difference        403      200      403      403     403
    get_connector_exposure          403      200      403      403     403
    get_decisions_difference        403      200      403      403     403
    get_checkpoint                  200      200      200      200     200
    get_checkpoint_key              200      200      200      200     200
    get_inclusion_proof             200      200      200      200     200
    get_consistency_proof           200      200      200      200     200
    post_user                       403      403      403      403     403
    post_user_token                 404      403      404      404     404
    post_agent                      201      201      201      201     201
    post_connector                  201      201      201      201     201
    post_agent_token                404      403      404      201     403
    post_approval_approve           404      404      404      200     404
    post_approval_refuse            404      404      404      409     404
    post_approval_withdraw          404      404      404      200     404
    post_definitions_accept         403      403      403      403     403
    post_connector_observe          403      403      403      403     403
    post_public_grant               403      403      403      403     403
    post_tool_rules_preview         403      403      403      200     403
    post_tool_rules_restore         403      403      403      200     403
    post_secret                     201      201      201      201     201
    post_secret_restore             200      200      200      200     200
    post_session                    403      403      409      409     403
    post_turn                       404      403      200      403     404
    post_session_end                404      403      200      403     404
    post_provider                   403      403      403      403     403
    post_price                      403      403      403      403     403
    post_price_end                  403      403      403      403     403
    post_price_correction           403      403      403      403     403
    post_contract                   403      403      403      403     403
    post_contract_end               403      403      403      403     403
    post_contract_correction        403      403      403      403     403
    post_reprice                    403      403      403      403     403
    post_genai_prices_import        403      403      403      403     403
    post_litellm_import             403      403      403      403     403
    put_user_name                   404      403      404      404     404
    put_user_disabled               404      403      404      404     404
    put_user_role                   404      403      404      404     404
    put_agent                       404      403      404      200     403
    put_connector                   403      403      403      403     403
    put_connector_gateway           403      403      403      403     403
    put_connector_credential        403      403      403      403     403
    put_connector_owner             403      403      403      403     403
    put_agent_gateway               404      403      404      200     403
    put_agent_manager               404      403      404      200     403
    put_agent_reader                404      403      404      200     403
    put_agent_grant                 403      403      403      200     403
    bulk_update_tools               403      403      403      200     403
    put_secret                      200      200      200      200     200
    delete_user_disabled            404      403      404      404     404
    delete_user_role                404      403      404      404     404
    delete_user_token               404      403      404      404     404
    delete_agent_token              404      403      404      200     403
    delete_connector_credential     403      403      403      403     403
    delete_connector_owner_offer    403      403      403      403     403
    delete_agent_manager            404      403      404      200     403
    delete_agent_reader             404      403      404      200     403
    delete_public_grant             403      403      403      403     403
    delete_connector_rules          403      403      403      200     403
    delete_connector                403      403      403      403     403
    delete_agent_grant              403      403      403      200     403
    delete_secret_by_name           200      200      200      200     200
    delete_agent                    404      403      404      200     403
    delete_user                     404      403      404      404     404
    delete_user_key                 404      403      404      404     404
"""


def _matrix() -> dict[str, dict[str, int]]:
    _, *rows = (line.split() for line in _ROWS.strip().splitlines())
    return {
        name: dict(zip(CALLERS, map(int, statuses), strict=True))
        for name, *statuses in rows
    }


MATRIX: Final = _matrix()
