"""Completion scripts for shells, made from the parser."""

import argparse
from collections.abc import Mapping
from typing import Final

from agent_runtime_client.art.things import OTHERS, THINGS

SHELLS: Final = ("bash", "zsh", "fish")
_BASH: Final = """\
# art: completion for bash; add to ~/.bashrc: source <(art completion bash)
_art() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words
  case "$COMP_CWORD:${{COMP_WORDS[1]}}:${{COMP_WORDS[2]}}" in
    1:*) words="{things}" ;;
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _art art
"""
_ZSH: Final = """\
#compdef art
# art: completion for zsh; add to ~/.zshrc: source <(art completion zsh)
_art() {{
  local -a candidates
  case "$((CURRENT - 1)):${{words[2]}}:${{words[3]}}" in
    1:*) candidates=({things}) ;;
{cases}
  esac
  compadd -a candidates || _files
}}
compdef _art art
"""


def script_for(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script for one of the shells; the parser has every verb."""
    words = _words(parser)
    if shell == "fish":
        return _fish(words)
    things = " ".join([*THINGS, *OTHERS])
    opening, closing, name = ("(", ")", "candidates")
    template = _ZSH
    if shell == "bash":
        opening, closing, name, template = '"', '"', "words", _BASH
    cases = []
    for thing, verbs in words.items():
        for verb, flags in verbs.items():
            pattern = f"*:{thing}:{verb}" if verb else f"*:{thing}:*"
            cases.append(
                f"    {pattern}) {name}={opening}{' '.join(flags)}{closing} ;;"
            )
        if any(verbs):
            listed = " ".join(verbs)
            cases.insert(
                len(cases) - len(verbs),
                f"    2:{thing}:*) {name}={opening}{listed}{closing} ;;",
            )
    return template.format(things=things, cases="\n".join(cases))


def _words(
    whole: argparse.ArgumentParser,
) -> Mapping[str, Mapping[str, list[str]]]:
    """Return the flags of each verb of each thing; "" stands for no verb."""
    found: dict[str, dict[str, list[str]]] = {}
    for thing, parser in _subparsers(whole).items():
        verbs = _subparsers(parser)
        found[thing] = {
            verb: sorted(_flags(each)) for verb, each in (verbs or {"": parser}).items()
        }
    return found


def _subparsers(
    parser: argparse.ArgumentParser,
) -> Mapping[str, argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001 # argparse lists them nowhere else
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 # likewise
            return dict(action.choices)
    return {}


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    return [
        flag
        for action in parser._actions  # noqa: SLF001 # argparse lists them nowhere else
        for flag in action.option_strings
        if flag.startswith("--")
    ]


def _fish(words: Mapping[str, Mapping[str, list[str]]]) -> str:
    things = " ".join([*THINGS, *OTHERS])
    lines = [
        "# art: completion for fish; save as ~/.config/fish/completions/art.fish",
        f"complete -c art -n __fish_use_subcommand -f -a '{things}'",
    ]
    for thing, verbs in words.items():
        seen = f"__fish_seen_subcommand_from {thing}"
        names = [verb for verb in verbs if verb]
        if names:
            none = f"not __fish_seen_subcommand_from {' '.join(names)}"
            lines.append(
                f"complete -c art -n '{seen}; and {none}' -f -a '{' '.join(names)}'"
            )
        for verb, flags in verbs.items():
            when = f"{seen}; and __fish_seen_subcommand_from {verb}" if verb else seen
            lines += [
                f"complete -c art -n '{when}' -l {flag.removeprefix('--')}"
                for flag in flags
            ]
    return "\n".join(lines) + "\n"
