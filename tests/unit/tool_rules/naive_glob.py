"""Globs as they are defined: a reference without any library."""


def matches_by_definition(pattern: str, name: str) -> bool:
    """Keep all beginnings of the name that the pattern's beginning matches."""
    lengths = {0}
    for token in pattern:
        if not lengths:
            return False
        if token == "*":
            lengths = {*range(min(lengths), len(name) + 1)}
        else:
            lengths = {
                length + 1
                for length in lengths
                if length < len(name) and token in ("?", name[length])
            }
    return len(name) in lengths
