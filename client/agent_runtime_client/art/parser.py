"""The command line's parser; a thing's verbs are added only when it is named."""

import argparse
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Final

from agent_runtime_client.art.options import add_verb
from agent_runtime_client.art.things import OTHERS, THINGS

# An error names at most so many of the values that an argument takes.
LISTED_MAX: Final = 12
EXAMPLES: Final = """\
examples:
  art agents list
  art rules show AGENT
  art rules explain AGENT CONNECTOR search_code
  art rules pull AGENT > rules.yaml; art rules plan rules.yaml
  art secrets set openai < key.txt
  art sessions list --limit 20 --output jsonl
  art audit tail

Settings: a flag, else AGENT_RUNTIME_SERVER, AGENT_RUNTIME_TOKEN_FILE or
AGENT_RUNTIME_TOKEN, else ~/.config/agent-runtime/config.toml (mode 0600).

Exit codes: 0 done, 1 refused by the service, 2 usage, 3 not found, 4 not allowed,
5 conflict or outdated version, 6 unavailable (worth repeating), 10 rules plan
--exit-code found changes, 130 interrupted.
"""


class Parser(argparse.ArgumentParser):
    """Suggests what may have been meant by a word that isn't known."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(each) for each in action.choices]
        close = get_close_matches(str(value), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else _listed(known)
        raise argparse.ArgumentError(action, f"{str(value)!r} is not known; {hint}")


def _listed(known: Sequence[str]) -> str:
    more = ", ..." if len(known) > LISTED_MAX else ""
    return f"it takes {', '.join(known[:LISTED_MAX])}{more}"


def build(argv: Iterable[str]) -> argparse.ArgumentParser:
    """Return the parser for these arguments.

    Loading the client for every thing would take longer than most commands do.
    """
    named = set(argv)
    parser = Parser(
        prog="art",
        description="Work with an agent runtime: art THING VERB.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print it and end")
    things = parser.add_subparsers(metavar="THING", dest="thing")
    for thing, text in {**THINGS, **OTHERS}.items():
        sub = things.add_parser(thing, help=text, description=_sentence(text))
        # Without a verb there is nothing to run but the help.
        sub.set_defaults(print_help=sub.print_help)
        if thing in named and thing in THINGS:
            _add_verbs(sub, thing)
    if named & OTHERS.keys():
        from agent_runtime_client.art.others import add_others

        add_others(things.choices, lambda: build([*THINGS, *OTHERS]))
    return parser


def _add_verbs(parser: argparse.ArgumentParser, thing: str) -> None:
    from agent_runtime_client.art.arguments import parameters_of
    from agent_runtime_client.art.commands import run_method
    from agent_runtime_client.art.things import methods_of, resource_of
    from agent_runtime_client.art.verbs import add_verbs

    verbs = parser.add_subparsers(metavar="VERB", dest="verb")
    for verb, name in methods_of(thing):
        method = getattr(resource_of(thing), name)
        summary, _, rest = (method.__doc__ or "").partition("\n")
        sub = add_verb(verbs, verb, summary, run_method, details=rest)
        sub.set_defaults(method=name)
        for parameter in parameters_of(method):
            if parameter.name != "dry_run":
                parameter.add_to(sub)
    add_verbs(thing, verbs)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


class _Version(argparse.Action):
    """Prints the version, which is found only if it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from agent_runtime_client import __version__

        parser.exit(message=f"art {__version__}\n")
