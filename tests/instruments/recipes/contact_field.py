"""Add the field ``contact`` to connectors."""

from typing import Final

from tests.instruments.recipes.edits import Edit, LeftOut, Recipe

ROUTES = "service/connectors/routes.py"
COMMANDS = "service/connectors/commands.py"
AGGREGATE = "service/connectors/aggregate.py"
EVENTS = "service/connectors/events.py"
RESOURCE = "service/connectors/resource.py"
TABLE = "projections/connectors/table.py"
PROJECTOR = "projections/connectors/projector.py"
QUERIES = "projections/connectors/queries.py"
EXAMPLE = "docs/examples/public_connectors.py"
FORM = "service/console/static/pages/connector.js"

CONTACT = """\
Contact = Annotated[
    str,
    Field(
        max_length=254,
        pattern=explained(r"^([^@\\s]+@[^@\\s]+)?$", "must be an e-mail address"),
    ),
]
"""

RECIPE: Final = Recipe(
    name="contact_field",
    written_in="tests/instruments/recipes/contact_field.py",
    sections=("Add a field to a resource",),
    steps={
        "description": (
            Edit(
                "service/http/openapi/descriptions.py",
                "BODY: Final = {\n",
                '    "contact": "Where to ask about it, as an e-mail address.",\n',
            ),
        ),
        "body": (
            Edit(
                ROUTES,
                "Description = Annotated[str, Field(max_length=2000)]\n",
                CONTACT,
            ),
            Edit(
                ROUTES,
                "from service.http.requests import Name, RequestModel\n",
                "from service.http.validation_errors import explained\n",
            ),
            Edit(
                ROUTES,
                '    description: Description = ""\n',
                '    contact: Contact = ""\n',
            ),
            Edit(
                ROUTES, "    description: Description\n", '    contact: Contact = ""\n'
            ),
            Edit(
                ROUTES,
                '        "description": "Read and file issues",\n',
                '        "contact": "issues@tracker.example",\n',
            ),
        ),
        "command": (
            Edit(
                ROUTES, "RegisterConnector(name=body.name, ", "contact=body.contact, "
            ),
            Edit(
                ROUTES,
                "        EditConnector(\n            connector_id=id,\n",
                "            contact=body.contact,\n",
            ),
            Edit(COMMANDS, "class RegisterConnector:\n", '    contact: str = ""\n'),
            Edit(COMMANDS, "class EditConnector:\n", '    contact: str = ""\n'),
            Edit(
                COMMANDS,
                "        description=command.description,\n",
                "        contact=command.contact,\n",
            ),
            Edit(
                COMMANDS,
                "url=command.url, description=command.description",
                ", contact=command.contact",
            ),
        ),
        "decision": (
            Edit(
                AGGREGATE,
                "def __init__(self, owner_id: str, name: str, url: str, description: str",
                ', contact: str = ""',
            ),
            Edit(
                AGGREGATE,
                "        self.description = description\n",
                "        self.contact = contact\n",
            ),
            Edit(
                AGGREGATE,
                "def edit(self, *, name: str, url: str, description: str",
                ', contact: str = ""',
            ),
            Edit(AGGREGATE, "if (name, url, description", ", contact"),
            Edit(
                AGGREGATE, "== (self.name, self.url, self.description", ", self.contact"
            ),
            Edit(
                AGGREGATE,
                "            description=description,\n",
                "            contact=contact,\n            previous_contact=self.contact,\n",
            ),
        ),
        "version of the aggregate": (
            Edit(
                AGGREGATE,
                "    @event(Created)\n",
                "    class_version += 1  # with contact\n\n    @event(Created)\n",
                instead=True,
            ),
        ),
        "event": (
            Edit(
                AGGREGATE,
                '        TOPIC = "connector.registered"\n',
                "        class_version = 2  # with contact\n"
                "        contact: Published[str]\n",
            ),
            Edit(
                AGGREGATE,
                "        description: Published[str]\n",
                "\n        @staticmethod\n"
                "        def upcast_v1_v2(state: dict[str, Any]) -> None:\n"
                '            state["contact"] = ""\n',
            ),
            Edit(
                AGGREGATE, "from datetime import datetime\n", "from typing import Any\n"
            ),
            Edit(
                EVENTS,
                '    TOPIC = "connector.edited"\n',
                "    class_version = 2  # with contact\n"
                "    contact: Published[str]\n"
                "    previous_contact: Published[str]\n",
            ),
            Edit(
                EVENTS,
                "    previous_description: Published[str]\n",
                "\n    @staticmethod\n"
                "    def upcast_v1_v2(state: dict[str, Any]) -> None:\n"
                '        state["contact"] = state["previous_contact"] = ""\n',
            ),
            Edit(
                EVENTS,
                '            ("description", self.previous_description, self.description),\n',
                '            ("contact", self.previous_contact, self.contact),\n',
            ),
            Edit(
                EVENTS,
                "        aggregate.description = self.description\n",
                "        aggregate.contact = self.contact\n",
            ),
        ),
        "resource": (
            Edit(RESOURCE, "    description: str\n", "    contact: str\n"),
            Edit(
                RESOURCE,
                '        "description": connector.description,\n',
                '        "contact": connector.contact,\n',
            ),
        ),
        "table": (
            Edit(
                "projections/connectors/table.sql",
                "    description    text        NOT NULL,\n",
                "    contact        text        NOT NULL,\n",
            ),
            Edit(TABLE, "    description: str\n", "    contact: str\n"),
            Edit(TABLE, "    SELECT id, owner_id, name,", " contact,"),
            Edit(TABLE, "           id, owner_id, name,", " contact,"),
            Edit(TABLE, " %(name)b::text[],", " %(contact)b::text[],"),
            Edit(
                TABLE,
                "           name = excluded.name,\n",
                "           contact = excluded.contact,\n",
            ),
        ),
        "projector": (
            Edit(
                PROJECTOR,
                "            description=event.description,\n",
                "            contact=event.contact,\n",
            ),
        ),
        "projector of changes": (
            Edit(
                PROJECTOR,
                "            row.description = event.description\n",
                "            row.contact = event.contact\n",
            ),
        ),
        "queries": (
            Edit(QUERIES, "    SELECT c.id, c.name,", " c.contact,"),
            Edit(QUERIES, "    SELECT id, name,", " contact,"),
        ),
        "form": (
            Edit(
                FORM,
                "description: connector.description",
                ", contact: connector.contact",
            ),
            Edit(
                FORM,
                'onValue=${set("description")} lines=${2} />\n',
                '    <${Field} label="Contact" name="contact" value=${values.contact}'
                ' onValue=${set("contact")} type="email" />\n',
            ),
        ),
        "walk": (
            Edit(
                "tests/support/connectors/operations.py",
                '    described["description"] = "Read and file issues"\n',
                '    described["contact"] = "issues@tracker.example"\n',
            ),
        ),
        "consumers": (
            Edit(
                EXAMPLE, "    ConnectorRegisteredV1,\n", "    ConnectorRegisteredV2,\n"
            ),
            Edit(
                EXAMPLE,
                "case ConnectorRegisteredV1(name=name)",
                " | ConnectorRegisteredV2(name=name)",
            ),
            Edit(
                "tests/instruments/bench/relay.py",
                'if event.name != "connector.registered.v1"',
                'if event.name not in {"connector.registered.v1", "connector.registered.v2"}',
                instead=True,
            ),
        ),
        "tests of the version": tuple(
            Edit(
                "tests/integration/relay/test_consumer.py",
                f"{start}1{end}",
                f"{start}2{end}",
                instead=True,
            )
            for start, end in (
                ("import ConnectorRegisteredV", "\n"),
                ("isinstance(each.data, ConnectorRegisteredV", ")"),
                ('"connector.registered.v', '"'),
            )
        ),
        "whole rows": (
            Edit(
                "tests/integration/connectors/test_projector.py",
                '"Issue tracker",https://tracker.example/mcp,""',
                ',""',
            ),
        ),
        "changelog": (
            Edit(
                "CHANGELOG.md",
                "### What an operator has to know\n\n",
                "- **Contacts of connectors.** A client that changes a connector without `contact`"
                " clears it; consumers get version 2 of its events.\n",
            ),
        ),
    },
    tests=("tests/integration/connectors", "tests/integration/relay/test_consumer.py"),
    left_out=(
        LeftOut(
            "description",
            "tests/unit/openapi/test_document.py",
            "describe them by Field(description=...)",
        ),
        LeftOut(
            "version of the aggregate",
            "tests/unit/event_log/test_golden_events.py",
            "give Connector class_version = ",
        ),
        LeftOut(
            "projector of changes",
            "tests/integration/openapi/test_examples.py",
            "get_connector reads otherwise what put_connector answered",
        ),
        LeftOut(
            "consumers",
            "tests/unit/relay/test_newest_versions.py",
            "docs/examples/public_connectors.py has to read these versions, too",
        ),
        LeftOut(
            "form",
            "tests/unit/console/test_forms.py",
            "the form of pages/connector.js sends a PUT without",
        ),
        LeftOut(
            "walk",
            "tests/unit/openapi/test_examples_fit.py",
            "in tests/support/connectors/operations.py, call put_connector with {'contact'}",
        ),
    ),
)
