// Show openapi.json with Swagger UI. A token stays in the page's memory only.

// Swagger UI sends the example of every parameter, also of an optional one: a made-up
// If-Match or X-Min-Position would make each request fail.
function withoutOptionalExamples(api) {
  const operations = Object.values(api.paths).flatMap(Object.values);
  const inline = operations.flatMap((operation) => operation.parameters ?? []);
  for (const parameter of [...inline, ...Object.values(api.components.parameters)]) {
    if (!parameter.required) delete parameter.example;
  }
  return api;
}

// Swagger UI rounds numbers to binary floating point; prices and costs have more digits.
function withEveryDigit(text) {
  const asWritten = (_key, value, { source }) =>
    typeof value === "number" ? JSON.rawJSON(source) : value;
  return JSON.stringify(JSON.parse(text, asWritten), null, 2);
}

const exactNumbers = () => ({
  wrapComponents: {
    responseBody: (Original, { React, getComponent }) => (props) => {
      const isJson = /\bjson\b/.test(props.contentType) && typeof props.content === "string";
      if (!isJson || !JSON.rawJSON) return React.createElement(Original, props);
      const options = { language: "json", downloadable: true, fileName: "answer.json", canCopy: true };
      return React.createElement("div", null, React.createElement("h5", null, "Response body"),
        React.createElement(getComponent("HighlightCode", true), options, withEveryDigit(props.content)));
    },
  },
});

async function show() {
  const answer = await fetch("openapi.json");
  SwaggerUIBundle({
    spec: withoutOptionalExamples(await answer.json()),
    dom_id: "#api",
    plugins: [exactNumbers],
    deepLinking: true,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
}

if (matchMedia("(prefers-color-scheme: dark)").matches) {
  document.documentElement.classList.add("dark-mode");
}
show();
