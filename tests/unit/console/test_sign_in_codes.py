"""Codes that sign a browser in expire and are bounded."""

from service.console.codes import CODES_MAX, LIFETIME_S, SignInCodes


def test_codes_expire_and_are_bounded() -> None:
    now = 0.0
    codes = SignInCodes(clock=lambda: now)
    first = codes.issue("token")
    kept = codes.issue("token")
    for _ in range(CODES_MAX - 1):
        codes.issue("token")

    assert codes.redeem(first) is None
    assert codes.redeem(kept) == "token"
    last = codes.issue("token")
    now = LIFETIME_S + 1
    assert codes.redeem(last) is None
