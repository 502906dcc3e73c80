"""The OpenAPI document of the API, and the page that shows it."""

from service.capabilities.declaration import Capability
from service.http.openapi.routes import routes as api_documents

API_DOCUMENTS = Capability(name="api_documents", routes=(api_documents,))
