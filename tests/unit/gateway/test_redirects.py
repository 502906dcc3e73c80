"""What a connector's owner is shown of where its server redirects to."""

import base64

import pytest
from pydantic import SecretStr

from service.gateway.upstream.credential_echo import CredentialEcho
from service.gateway.upstream.redirects import target_of

URL = "https://tools.example/mcp?key=of-the-url"


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://other.example:8443/a/mcp", "https://other.example:8443/a/mcp"),
        ("/mcp/", "https://tools.example/mcp/"),
        ("mcp/", "https://tools.example/mcp/"),
        ("//other.example", "https://other.example"),
        ("http://[2001:db8::1]:80/mcp", "http://[2001:db8::1]:80/mcp"),
        ("https://user:pass@other.example/?q=1#f", "https://other.example/"),
        ("?code=1", "https://tools.example/mcp"),
        # Not the path where it could be a text, a secret or an escape sequence.
        ("/IGNORE%20PREVIOUS", "https://tools.example"),
        ("/\x1b[31m", "https://tools.example"),
        ("/a;jsessionid=1", "https://tools.example"),
        ("/\u00e4", "https://tools.example"),
        ("/" + "a" * 37, "https://tools.example"),
        ("/abcd" * 21, "https://tools.example"),
        ("https://other.example/tok/x/../en", "https://other.example"),
        ("/abcd" * 20, "https://tools.example" + "/abcd" * 20),
        ("/a\n", "https://tools.example/a"),
        # Not at all.
        ("javascript:alert(1)", ""),
        ("https://a b.example/", ""),
        ("https://\u0430.example/", ""),
        ("https://other.example:x/", ""),
        ("https://" + "a" * 254, ""),
        ("https://[/", ""),
        ("", ""),
        (None, ""),
    ],
)
async def test_shown_are_scheme_host_port_and_path(
    location: str | None, shown: str
) -> None:
    assert await target_of(location, URL, None) == shown


TOKEN = "tok/en-of-tools"


@pytest.mark.parametrize(
    "location",
    [
        f"https://other.example/{TOKEN}",
        f"https://{TOKEN.replace('/', '.')}.example/",
        "https://other.example/tok%2Fen-of-tools",
        f"https://other.example/{base64.urlsafe_b64encode(TOKEN.encode()).decode()}",
        f"https://other.example/{TOKEN.encode().hex()}",
        # It is there once the path is resolved.
        "/tok/x/../en-of-tools",
        "https://other.example/tok/en-of\t-tools",
        # Nor is the rest of a URL that has it elsewhere.
        f"https://other.example/mcp?token={TOKEN}",
    ],
)
async def test_the_credential_of_the_request_is_never_shown(location: str) -> None:
    header = f"Bearer {TOKEN.replace('/', '.') if '://tok.' in location else TOKEN}"

    assert await target_of(location, URL, CredentialEcho(SecretStr(header))) == ""
