"""Tool rules as files, for version control: pull, plan and apply."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agent_runtime_client.art import output
from agent_runtime_client.art.commands import (
    DryRunError,
    caller_of,
    confirm,
    note,
    write,
)
from agent_runtime_client.art.errors import ExitCode, UsageError
from agent_runtime_client.art.names import (
    id_of,
    labels_of,
    names_of,
    unique_names,
)
from agent_runtime_client.art.options import add_verb
from agent_runtime_client.art.rule_warnings import note_warnings
from agent_runtime_client.art.rules_file import RulesFile, read_rules, rules_text
from agent_runtime_client.art.things import resource_of

# The exit code of plan --exit-code where there is something to change.
CHANGES: Final = 10


def add_rule_verbs(verbs: Any) -> None:
    """Add the verbs of ``art rules`` that work on files, and ``diff``."""
    diff = add_verb(
        verbs,
        "diff",
        "Compare an agent's rules and decisions at two positions or times.",
        _diff,
    )
    _add_agent(diff)
    diff.add_argument("since", metavar="SINCE", help="a log position or a time")
    diff.add_argument(
        "until", metavar="UNTIL", nargs="?", help="likewise; now if it is left out"
    )
    pull = add_verb(
        verbs, "pull", "Print an agent's rules as a file for plan and apply.", _pull
    )
    _add_agent(pull)
    pull.add_argument(
        "--names",
        action="store_true",
        help="write names in place of ids, to use the file at another service",
    )
    plan = add_verb(
        verbs,
        "plan",
        "Show what applying a file would change; nothing is done.",
        _plan,
    )
    plan.add_argument("file", metavar="FILE", help="as from pull; - is standard input")
    plan.add_argument("--out", metavar="PLAN", help="write the plan for apply --plan")
    plan.add_argument(
        "--exit-code", action="store_true", help=f"exit with {CHANGES} on changes"
    )
    _add_refusal(plan)
    apply = add_verb(
        verbs,
        "apply",
        "Replace rules by those of a file, if they are still as they were planned on.",
        _apply,
    )
    apply.add_argument("file", metavar="FILE", help="as from pull; - is standard input")
    apply.add_argument(
        "--plan", metavar="PLAN", help="apply only what this plan has shown"
    )
    _add_refusal(apply)


def _add_agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="agent, by name or id")


def _add_refusal(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--refuse-warnings",
        action="store_true",
        help=f"exit with {ExitCode.REFUSED} if there are warnings; nothing is changed",
    )


def _diff(options: argparse.Namespace) -> None:
    with caller_of(options) as caller:
        agent_id = id_of(caller, "agents", options.agent)
        audit = resource_of("audit")(caller)
        until = {} if options.until is None else {"until": options.until}
        difference = audit.compare_decisions(agent_id, options.since, **until)
        labels = labels_of(caller, difference)
    _write(difference, options, _difference_lines(difference, labels))


def _pull(options: argparse.Namespace) -> None:
    with caller_of(options) as caller:
        agent_id = id_of(caller, "agents", options.agent)
        rules = resource_of("rules")(caller).get(agent_id)
        ids = {each["connector_id"] for each in rules["rules"]}
        agent = None
        if options.names:
            names = unique_names(caller, "connectors", ids)
            agent = unique_names(caller, "agents", {agent_id}).get(agent_id, agent_id)
            for each in sorted({*ids, agent_id} - names.keys() - {agent_id}):
                note(f"{each} has no name of its own here, so the file has its id")
        else:
            names = names_of(caller, ids)
    sys.stdout.write(rules_text(rules, names, agent=agent))


def _plan(options: argparse.Namespace) -> int:
    with caller_of(options) as caller:
        file = read_rules(options.file).with_ids(caller)
        plan = _planned(caller, file)
        labels = labels_of(caller, plan)
        _write(plan, options, _plan_lines(plan, labels))
        has_warnings = note_warnings(caller, plan)
    if options.out is not None:
        saved = {"file": file.digest, "version": plan["version"]}
        Path(options.out).write_text(json.dumps(saved) + "\n", encoding="utf-8")
    if has_warnings and options.refuse_warnings:
        return ExitCode.REFUSED
    changed = bool(plan["added"] or plan["removed"])
    return CHANGES if options.exit_code and changed else ExitCode.DONE


def _apply(options: argparse.Namespace) -> int:
    with caller_of(options) as caller:
        file = read_rules(options.file).with_ids(caller)
        if options.plan is None:
            plan = _planned(caller, file)
            version = plan["version"]
            for line in _plan_lines(plan, labels_of(caller, plan)):
                note(line)
            if note_warnings(caller, plan) and options.refuse_warnings:
                return ExitCode.REFUSED
            if not (plan["added"] or plan["removed"]):
                return ExitCode.DONE
        else:
            version = _version_of(Path(options.plan), file)
        if options.dry_run:
            raise DryRunError
        if not options.yes:
            confirm("apply it?")
        options.yes = True
        replaced = resource_of("rules")(caller).replace(
            file.agent,
            file.rules,
            if_match=version,
            refuse_warnings=options.refuse_warnings,
        )
        write(replaced, options, caller)
        if options.plan is not None:
            note_warnings(caller, replaced)
    return ExitCode.DONE


def _planned(caller: Any, file: RulesFile) -> Any:
    return resource_of("rules")(caller).preview(file.agent, file.rules)


def _version_of(path: Path, file: RulesFile) -> int:
    """Return the version that a plan was made on.

    :raises UsageError: it is the plan of another file
    """
    try:
        saved = json.loads(path.read_text("utf-8"))
        digest, version = saved["file"], int(saved["version"])
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is no plan; make one by plan --out {path}") from None
    if digest != file.digest:
        raise UsageError(f"{path} is the plan of another file or of an earlier content")
    return version


def _write(data: Any, options: argparse.Namespace, lines: Iterator[str]) -> None:
    if options.output == "table":
        for line in lines:
            print(line)
        return
    if not options.is_output_chosen:
        # JSON is for the next program; the log of a CI run is read by people.
        for line in lines:
            note(line)
    write(data, options)


def _difference_lines(
    difference: Mapping[str, Any], labels: Mapping[str, str]
) -> Iterator[str]:
    yield from _rule_lines(difference, labels)
    for each in difference["connectors"]:
        if each["granted_before"] != each["granted_after"]:
            sign = "+" if each["granted_after"] else "-"
            yield f"{sign} {labels[each['connector_id']]}  grant"
    yield from _decision_lines(difference, labels)
    for connector_id in difference["not_observed"]:
        yield f"no tools of {labels[connector_id]} were known: no decisions"


def _plan_lines(plan: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[str]:
    yield from _rule_lines(plan, labels)
    yield (
        f"{len(plan['added'])} rules to add, {len(plan['removed'])} to remove, "
        f"{plan['unchanged']} unchanged, on version {plan['version']}"
    )
    yield from _decision_lines(plan, labels)
    for connector_id in plan["not_observed"]:
        yield f"the tools of {labels[connector_id]} were never observed: no decisions"


def _rule_lines(changes: Mapping[str, Any], labels: Mapping[str, str]) -> Iterator[str]:
    for sign, rules in (("-", changes["removed"]), ("+", changes["added"])):
        for rule in rules:
            connector = labels[rule["connector_id"]]
            parts = (connector, rule["stance"], rule["tool_pattern"])
            yield f"{sign} " + "  ".join(map(output.cell, parts))


def _decision_lines(
    difference: Mapping[str, Any], labels: Mapping[str, str]
) -> Iterator[str]:
    lines = [
        f"  {output.cell(tool['tool'])} of {labels[connector['connector_id']]}: "
        f"{tool['before']} -> {tool['after']}"
        for connector in difference["connectors"]
        for tool in connector["tools"]
    ]
    yield "no decision differs" if not lines else "decisions that differ:"
    yield from lines
