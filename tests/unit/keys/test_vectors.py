"""Frozen values of our own format, and Wycheproof's cases for AES-256-GCM."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from service.keys.cipher import (
    Key,
    OpenError,
    SecretBinding,
    TextBinding,
    UserKey,
    gcm_open,
    gcm_seal,
    open_sealed,
    seal,
)
from tests.unit.keys import aev1_reference as reference

GOLDEN = Path("tests/golden")


def golden_values() -> list[dict[str, Any]]:
    document = json.loads((GOLDEN / "sealed_values.json").read_text())
    values: list[dict[str, Any]] = document["values"]
    return values


@pytest.mark.parametrize("golden", golden_values(), ids=lambda golden: golden["about"])
def test_values_sealed_long_ago_still_open(golden: dict[str, Any]) -> None:
    place = {
        name: UUID(value) if name.endswith("_id") else value
        for name, value in golden["binding"].items()
    }
    kind = {"secret": SecretBinding, "text": TextBinding}[golden["purpose"]]
    binding: Any = kind(**place)
    user_key = UserKey(UUID(golden["key_id"]), Key(bytes.fromhex(golden["user_key"])))
    value, sealed = (bytes.fromhex(golden[name]) for name in ("value", "sealed"))
    assert open_sealed(sealed, user_key=user_key, binding=binding) == value
    random = reference.replay(*(bytes.fromhex(part) for part in golden["random"]))
    assert seal(value, user_key=user_key, binding=binding, random=random) == sealed


def wycheproof_cases() -> list[dict[str, Any]]:
    document = json.loads((GOLDEN / "wycheproof_aes_gcm.json").read_text())
    return [case for group in document["testGroups"] for case in group["tests"]]


@pytest.mark.parametrize("case", wycheproof_cases(), ids=lambda case: case["tcId"])
def test_wycheproof(case: dict[str, Any]) -> None:
    names = ("key", "iv", "aad", "msg", "ct", "tag")
    key, iv, aad, message, ciphertext, tag = (bytes.fromhex(case[n]) for n in names)
    if case["result"] == "valid":
        assert gcm_seal(key, iv, message, aad) == ciphertext + tag
        assert gcm_open(key, iv, ciphertext + tag, aad) == message
    else:
        with pytest.raises(OpenError):
            gcm_open(key, iv, ciphertext + tag, aad)
