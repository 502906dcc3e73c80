"""Verbs written by hand: those that follow, write files, or compare files."""

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from agent_runtime_client.art import output
from agent_runtime_client.art.arguments import parameters_of
from agent_runtime_client.art.commands import caller_of, note, write
from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.art.options import add_verb
from agent_runtime_client.art.rules import add_rule_verbs
from agent_runtime_client.art.things import resource_of

# What doesn't follow from an entry alone, and is for reading.
_NOT_COVERED: Final = "not covered: actor, resource.name, what"


def add_verbs(thing: str, verbs: Any) -> None:
    """Add the verbs of a thing that aren't a method of the client."""
    if thing == "rules":
        add_rule_verbs(verbs)
    if thing != "audit":
        return
    tail = add_verb(
        verbs,
        "tail",
        "Print entries of the audit trail as they come, until Ctrl-C.",
        tail_audit,
    )
    _add_filters(tail, "stream")
    export = add_verb(
        verbs,
        "export",
        "Write the audit trail to a file, oldest first.",
        export_audit,
        details="A broken export is continued by the same command.",
    )
    export.add_argument(
        "file", metavar="FILE", help="file to write; - is standard output"
    )
    export.add_argument(
        "--csv",
        action="store_true",
        help="write CSV for spreadsheets instead of JSON Lines",
    )
    _add_filters(export, "export_jsonl")
    verify = add_verb(
        verbs,
        "verify",
        "Verify the log against a signed checkpoint that you have kept.",
        verify_audit,
        details="Without --export and --position: verify that the service's log has "
        "only grown since then.",
    )
    verify.add_argument(
        "checkpoint", metavar="CHECKPOINT", help="file with the checkpoint"
    )
    verify.add_argument(
        "--key",
        metavar="FILE",
        required=True,
        help="file with the public key: name+id+key",
    )
    what = verify.add_mutually_exclusive_group()
    what.add_argument(
        "--export", metavar="FILE", help="an export without filters, checked offline"
    )
    what.add_argument(
        "--position", type=int, metavar="N", help="verify this entry, and show it"
    )


def _add_filters(parser: argparse.ArgumentParser, method: str) -> None:
    for parameter in parameters_of(getattr(resource_of("audit"), method)):
        parameter.add_to(parser)
    parser.set_defaults(method=method)


def _filters(options: argparse.Namespace) -> dict[str, Any]:
    given = vars(options)
    method = getattr(resource_of("audit"), options.method)
    return {
        each.name: each.read(given)
        for each in parameters_of(method)
        if each.is_in(given)
    }


def tail_audit(options: argparse.Namespace) -> None:
    """Print entries as they come: a sentence each, or one JSON object a line."""
    from agent_runtime_client import operations
    from agent_runtime_client._sync.stream import EventStream
    from agent_runtime_client.art.caller import Fields

    with caller_of(options) as caller:
        stream: EventStream[Any] = EventStream(
            caller, operations.GET_AUDIT_STREAM, Fields, query=_filters(options)
        )
        try:
            with stream:
                for entry in stream:
                    print(_tail_line(entry, options.output), flush=True)
        finally:
            if stream.position is not None:
                note(f"continue with --after {stream.position}")


def _tail_line(entry: Any, form: str) -> str:
    if form != "table":
        return output.json_text(entry)
    parts = (entry["position"], entry["recorded_at"], entry["what"])
    return "  ".join(map(output.cell, parts))


def export_audit(options: argparse.Namespace) -> None:
    """Write the trail to a file that appears when it is complete."""
    with caller_of(options) as caller:
        audit = resource_of("audit")(caller)
        make = audit.export_csv if options.csv else audit.export_jsonl
        export = make(**_filters(options))
        if options.file == "-":
            for chunk in export.chunks():
                sys.stdout.buffer.write(chunk)
            return
        progress = _show_progress if sys.stderr.isatty() else None
        exported = export.save(Path(options.file), progress=progress)
        note(f"{exported.path} has the trail up to position {exported.until_position}")


def _show_progress(position: int, until: int) -> None:
    """Draw the progress on one line of the terminal."""
    width = 40
    share = min(1.0, position / max(1, until))
    filled = int(width * share)
    bar = "#" * filled + "." * (width - filled)
    end = "\n" if position >= until else ""
    sys.stderr.write(f"\r[{bar}] {share:4.0%} position {position:,} of {until:,}{end}")
    sys.stderr.flush()


def verify_audit(options: argparse.Namespace) -> None:
    """Recompute the proofs here; the service is not trusted with them."""
    from agent_runtime_client.errors import VerificationFailedError
    from agent_runtime_client.proofs.checkpoint import Checkpoint
    from agent_runtime_client.proofs.export_check import check_export
    from agent_runtime_client.proofs.note import NoteError

    try:
        key = Path(options.key).read_text("utf-8").strip()
        checkpoint = Checkpoint.load(options.checkpoint, public_key=key)
        if options.export is not None:
            with Path(options.export).open("rb") as lines:
                found = check_export(lines, [checkpoint])
            if found.problem is not None:
                raise VerificationFailedError(
                    str(found.problem), code="verification_failed"
                )
            note(f"{found.proven} of {found.entries} entries are as they were signed")
            note(_NOT_COVERED)
            return
        with caller_of(options) as caller:
            audit = resource_of("audit")(caller)
            if options.position is not None:
                entry = audit.verify(options.position, against=checkpoint)
                note(f"the entry is as it was signed with {checkpoint.size} entries")
                note(f"{_NOT_COVERED}, changes")
                write(entry, options)
                return
            newest = audit.verify_growth(since=checkpoint, public_key=key)
    except (OSError, NoteError) as error:
        raise UsageError(str(error)) from None
    note(
        f"the log has only grown since the checkpoint: from {checkpoint.size} to "
        f"{newest.size} entries"
    )
