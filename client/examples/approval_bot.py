"""Approve calls of agents that need no thought; leave all others to people.

    export AGENT_RUNTIME_SERVER=http://127.0.0.1:8080 AGENT_RUNTIME_TOKEN=...
    python approval_bot.py create_issue 'calendar.read_*'

Approves pending calls of tools that match a pattern, if their arguments are short. The
token's user manages the agents, or owns the connectors. Runs until interrupted, also
while the service can't be reached; with --once, one time.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from agent_runtime_client import AgentRuntime, AgentRuntimeError, errors
from agent_runtime_client.models import ApprovalWithArguments

INTERVAL_S = 2.0
ARGUMENTS_MAX = 200
FINAL = (errors.UnauthenticatedError, errors.ForbiddenError)
REASON = "approved by a bot: a known tool with short arguments"


def is_harmless(call: ApprovalWithArguments, patterns: Sequence[str]) -> bool:
    """Decide; arguments that were destroyed can't be judged."""
    # Numbers with a fraction are decimals, which JSON has no form of.
    size = len(json.dumps(call.arguments, default=str))
    is_short = call.arguments is not None and size <= ARGUMENTS_MAX
    return is_short and any(fnmatchcase(call.tool, each) for each in patterns)


def approve_pending(runtime: AgentRuntime, patterns: Sequence[str]) -> Iterator[str]:
    """Approve harmless calls, and yield a line for each pending one."""
    for each in runtime.approvals.list(state="pending"):
        try:
            call = runtime.approvals.get(each.agent_id, each.id)
            if not is_harmless(call, patterns):
                yield f"left to a person: {call.tool}, until {call.expires_at}"
                continue
            # The version that was judged: not one that somebody has decided since.
            runtime.approvals.approve(
                call.agent_id, call.id, reason=REASON, if_match=call.version
            )
            yield f"approved: {call.tool}"
        except (errors.PreconditionFailedError, errors.ConflictError):
            yield f"decided by somebody else: {each.tool}"
        except AgentRuntimeError as error:
            yield f"error: {each.tool} ({error.code})"


def main() -> None:
    patterns, once = [x for x in sys.argv[1:] if x != "--once"], "--once" in sys.argv
    server, token = (os.environ[f"AGENT_RUNTIME_{x}"] for x in ("SERVER", "TOKEN"))
    shown: set[str] = set()
    with AgentRuntime(server, token) as runtime:
        while True:
            lines = set()
            try:
                for line in approve_pending(runtime, patterns):
                    lines.add(line)
                    # What waits for a person is shown once.
                    if line not in shown:
                        print(line, flush=True)
                shown = lines
            except AgentRuntimeError as error:
                if once or isinstance(error, FINAL):
                    raise
                print(f"trying again: {error}", file=sys.stderr, flush=True)
            if once:
                return
            time.sleep(INTERVAL_S)


if __name__ == "__main__":
    main()
