"""The command line's parser; a thing's verbs are added only when it is named."""

import argparse
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from agent_runtime_client.art.options import Formatter, add_common, add_verb
from agent_runtime_client.art.suggestions import did_you_mean, unknown
from agent_runtime_client.art.things import OTHERS, THINGS

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

ASKED: Final = """\
Its value is read from standard input, or asked for on a terminal. Of a single line the
line end is left out; any other input is kept byte by byte."""


class Parser(argparse.ArgumentParser):
    """Suggests what may have been meant by a word that isn't known."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, others = self.parse_known_args(args, namespace)
        if others:
            leaf = _leaf(self, options)
            if not hasattr(options, "run"):
                leaf.error("what should be done? Name a command")
            flag = others[0].partition("=")[0]
            flags = leaf._option_string_actions  # noqa: SLF001 # nowhere else
            hint = _meant(flag, flags)
            leaf.error(f"it takes no {others[0]}{hint}")
        return options

    def refuse(self, flag: str) -> None:
        """Refuse an option that stands before the verb and isn't for every command."""
        common = Parser(add_help=False)
        add_common(common, lambda _: None)
        hint = _meant(flag, common._option_string_actions)
        self.error(f"{flag} belongs behind the verb{hint}")

    def error(self, message: str) -> NoReturn:
        # The usage is longer than most screens are high.
        self.exit(
            2, f"{self.prog}: {message}\nrun {self.prog} --help to see what it takes\n"
        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = (str(each) for each in action.choices)
            raise argparse.ArgumentError(action, unknown(str(value), known))


def _meant(flag: str, known: Iterable[str]) -> str:
    close = get_close_matches(flag, known, n=2) if flag.startswith("-") else ()
    return f"; {did_you_mean(close)}" if close else ""


def _leaf(parser: Any, options: argparse.Namespace) -> Any:
    """Return the parser of the verb that was named."""
    words = (getattr(options, "thing", None), getattr(options, "verb", None))
    for word in words:
        if word is not None:
            [verbs] = parser._subparsers._group_actions  # noqa: SLF001 # nowhere else
            parser = verbs.choices[word]
    return parser


def build(argv: Iterable[str]) -> Parser:
    """Return the parser for these arguments.

    Loading the client for every thing would take longer than most commands do.
    """
    named = set(argv)
    parser = Parser(
        prog="art",
        description="Work with an agent runtime: art THING VERB.",
        epilog=EXAMPLES,
        formatter_class=Formatter,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the version and exit"
    )
    things = parser.add_subparsers(metavar="THING", dest="thing")
    for thing, text in {**THINGS, **OTHERS}.items():
        sub = things.add_parser(
            thing,
            help=text,
            description=_sentence(text),
            formatter_class=Formatter,
        )
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
    from agent_runtime_client.art.help_texts import help_texts
    from agent_runtime_client.art.things import methods_of, resource_of
    from agent_runtime_client.art.verbs import add_verbs

    verbs = parser.add_subparsers(metavar="VERB", dest="verb")
    for verb, name in methods_of(thing):
        method = getattr(resource_of(thing), name)
        texts = help_texts(method)
        parameters = parameters_of(method)
        details = texts.details
        if any(each.is_secret for each in parameters):
            details = f"{ASKED}\n\n{details}"
        sub = add_verb(verbs, verb, texts.summary, run_method, details=details)
        sub.set_defaults(method=name)
        for parameter in parameters:
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
