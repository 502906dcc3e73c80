"""The body of a connection."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from service.connectors.url import ConnectorUrl
from service.http.requests import Name, RequestModel
from service.model_gateway.connections.settings import (
    ConnectionCredential,
    ConnectionSettings,
)
from service.model_gateway.dialects import Dialect, in_order
from service.price_catalog.bodies import ProviderKey
from service.secrets.headers import SecretHeader, SecretScheme
from service.secrets.names import SecretName


def _without_fragment(url: str) -> str:
    if "#" in url:
        raise ValueError("must have no fragment: it is no part of a request")
    return url


class ConnectionCredentialBody(RequestModel):
    """A secret of the caller, and how it is sent.

    Anthropic takes its key in the header `x-api-key`, with the scheme null, and Azure
    in `api-key`; most others in `Authorization`, with the scheme `Bearer`.
    """

    secret_name: SecretName
    header: SecretHeader = "Authorization"
    scheme: SecretScheme = "Bearer"


class ConnectionBody(RequestModel):
    name: Name
    base_url: Annotated[
        ConnectorUrl,
        AfterValidator(_without_fragment),
        Field(
            description=(
                "An http or https URL without credentials, to which the path of the "
                "dialect is added: `/chat/completions`, `/responses`, `/embeddings` or "
                "`/messages`. Of most providers it ends in `/v1`."
            )
        ),
    ]
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
    credential: Annotated[
        ConnectionCredentialBody | None,
        Field(description="What its calls carry; null for a server without keys."),
    ] = None

    @property
    def settings(self) -> ConnectionSettings:
        given: Any = self.credential and self.credential.model_dump()
        credential: ConnectionCredential | None = given
        return {
            "name": self.name,
            "base_url": self.base_url.rstrip("/"),
            "dialects": in_order(self.dialects),
            "provider": self.provider,
            "credential": credential,
        }
