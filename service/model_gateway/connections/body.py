"""The bodies of a connection."""

from typing import Annotated

from pydantic import Field

from service.call_recording.modes import RecordMode
from service.http.requests import Name, RequestModel
from service.model_gateway.connections.base_url import BaseUrl
from service.model_gateway.connections.settings import (
    ConnectionCredential,
    ConnectionSettings,
)
from service.model_gateway.dialects import Dialect, in_order
from service.price_catalog.bodies import ProviderKey
from service.secrets.headers import (
    SCHEME_PATTERN,
    SecretHeader,
)
from service.secrets.names import SecretName

AUTHORIZATION = "Authorization"
BEARER = "Bearer"


class ConnectionCredentialBody(RequestModel):
    """A secret of the caller, and how it is sent.

    Anthropic takes its key in the header `x-api-key`, and Azure in `api-key`; most
    others in `Authorization`.
    """

    secret_name: SecretName
    header: SecretHeader = AUTHORIZATION
    scheme: Annotated[
        str | None,
        Field(
            pattern=SCHEME_PATTERN,
            description=(
                "Precedes the value, with a space; null for none. Left out, it is "
                "`Bearer` in `Authorization`, and none in other headers."
            ),
        ),
    ] = None

    @property
    def credential(self) -> ConnectionCredential:
        scheme = self.scheme
        if "scheme" not in self.model_fields_set and self.header == AUTHORIZATION:
            scheme = BEARER
        return {
            "secret_name": self.secret_name,
            "header": self.header,
            "scheme": scheme,
        }


Credential = Annotated[
    ConnectionCredentialBody | None,
    Field(description="What its calls carry; null for a server without keys."),
]


Mode = Annotated[
    RecordMode,
    Field(
        description=(
            "`strict`: each call is on record before it is sent. `batched`: up to "
            "100 ms later, together with others, and what was taken back may be used "
            "for a second. A call is batched if all targets of its preset are."
        )
    ),
]


class ConnectionBody(RequestModel):
    """All settings of a connection: nothing that it has is left as it is."""

    name: Name
    base_url: BaseUrl
    dialects: Annotated[
        list[Dialect],
        Field(
            min_length=1,
            max_length=len(Dialect),
            description="What the server speaks; nothing is translated.",
        ),
    ]
    provider: Annotated[
        ProviderKey,
        Field(description="Whose prices its calls have, in the provider catalog."),
    ]
    credential: Credential
    record_mode: Mode

    @property
    def settings(self) -> ConnectionSettings:
        credential = self.credential
        return {
            "name": self.name,
            "base_url": self.base_url,
            "dialects": in_order(self.dialects),
            "provider": self.provider,
            "credential": None if credential is None else credential.credential,
            "record_mode": self.record_mode.value,
        }


class NewConnection(ConnectionBody):
    credential: Credential = None
    record_mode: Mode = RecordMode.STRICT
