import type { OpenApiDocument, OperationObject } from '#http/openapi/open-api.ts';
import { html, Html } from '#kernel/text/html.ts';
import { curlOf } from '#http/reference/example.ts';
import { fieldView, prose, schemaView } from '#http/reference/schema-view.ts';
import { REFERENCE_STYLE } from '#http/reference/style.ts';
import type { JsonObject } from '#kernel/text/json.ts';

interface Named {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** The whole document as one page, without scripts and with nothing from other hosts. It is made once, at the first request. */
export function referencePage(document: OpenApiDocument): Html {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Named => ({ method, path, operation })),
  );
  const groups = document.tags.map(({ name, description }) => {
    return { name, description, members: operations.filter(({ operation }) => operation.tags.includes(name)) };
  });
  const body = groups.map(
    ({ name, description, members }) => html`<section id="${anchorOf(name)}">
<h2>${name}</h2>
<p>${prose(description)}</p>
${members.map((member) => operationView(document, member))}</section>
`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference - Purser</title>
${new Html(`<style>${REFERENCE_STYLE}</style>`)}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Operations">
<p><a href="#content">Purser</a></p>
<p><a href="/guides/app-developer">Guides</a></p>
<ul>
${groups.map(navigationOf)}<li><a href="#errors">Errors</a></li>
<li><a href="#objects">Objects</a></li>
</ul>
</nav>
<main id="content">
<h1>API reference</h1>
${beginning(document)}
${body}${errorsView(document)}
${objectsView(document)}
</main>
</body>
</html>
`;
}

function navigationOf({ name, members }: { readonly name: string; readonly members: readonly Named[] }): Html {
  const items = members.map(
    ({ operation, path, method }) =>
      html`<li><a href="#${operation.operationId}"><b class="${method}">${method.toUpperCase()}</b> ${breakable(path)}</a></li>
`,
  );
  return html`<li><a href="#${anchorOf(name)}">${name}</a>
<ul>${items}</ul></li>
`;
}

/** A long path may break before one of its parts. Broken anywhere else, it could not be read. */
function breakable(path: string): Html {
  return html`${path
    .split('/')
    .slice(1)
    .map((part) => html`<wbr>/${part}`)}`;
}

function anchorOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

function beginning({ info, components, servers }: OpenApiDocument): Html {
  const schemes = Object.entries(components.securitySchemes as Readonly<Record<string, JsonObject>>);
  return html`<p>${String(info['summary'])}</p>
<p>For programs, the same is an OpenAPI 3.1 document: <a href="/openapi.json">/openapi.json</a>.</p>
<h2>Authentication</h2>
<p>Most operations need a token: <code>authorization: Bearer ...</code></p>
<ul class="fields">${schemes.map(
    ([name, { description }]) => html`<li><code class="name">${name}</code> ${prose(String(description))}</li>
`,
  )}</ul>
<h2>For every operation</h2>
<ul class="plain">
<li>Send bodies as JSON, with <code>content-type: application/json</code>, of at most 1 MiB. A field that is not listed is refused, and the error names it.</li>
<li>Amounts are in micros: whole millionths of the currency.</li>
<li>Every response has an <code>x-correlation-id</code> (your own, if you sent one), and repeats it as <code>x-request-id</code>. Quote it when you ask for help with a call.</li>
<li>Every operation may answer 500 <code>INTERNAL_SERVER_ERROR</code>. A method that a path does not have is answered with 405 <code>METHOD_NOT_ALLOWED</code>, and <code>allow</code> lists those it has. <code>HEAD</code> works wherever <code>GET</code> does.</li>
</ul>
<p>Set these variables, and you can paste the examples:</p>
<pre>PURSER_URL=${servers.map(({ url }) => url)}
API_KEY=svc_live_...
SESSION_TOKEN=...</pre>
`;
}

function operationView(document: OpenApiDocument, { method, path, operation }: Named): Html {
  const { operationId, summary, description, requestBody } = operation;
  const body = requestBody?.content['application/json']?.schema;
  return html`<article id="${operationId}">
<h3><b class="${method}">${method.toUpperCase()}</b> <code>${path}</code></h3>
<p class="summary">${prose(summary)}. <span class="soft">${accessOf(operation)}</span></p>
${description === undefined ? '' : html`<p>${prose(description)}</p>`}
${parametersView(operation)}
${body === undefined ? '' : html`<h4>Body</h4>\n${schemaView(body)}`}
<h4>Responses</h4>
<ul class="fields">${Object.entries(operation.responses).map((entry) => answerView(document, entry))}</ul>
<h4>Example</h4>
<pre>${curlOf(method, path, operation)}</pre>
</article>
`;
}

function accessOf(operation: OperationObject): Html {
  const names = operation.security.flatMap((one) => Object.keys(one));
  if (names.length === 0) return html`No token needed.`;
  const ofWhom = operation.responses['403'] !== undefined && names.includes('session') ? ' of an operator' : '';
  return html`Needs ${names.map((name) => html`<code>${name}</code>`)}${ofWhom}.`;
}

function parametersView({ parameters = [] }: OperationObject): Html | string {
  const shown = parameters.filter(({ name }) => name !== 'x-correlation-id'); // The page says it once, at its beginning.
  if (shown.length === 0) return '';
  const items = shown.map(({ name, in: place, required, schema, description }) =>
    fieldView({
      name,
      schema,
      isRequired: required,
      description:
        [place === 'path' ? undefined : `In the ${place}.`, description].filter(Boolean).join(' ') || undefined,
    }),
  );
  return html`<h4>Parameters</h4>
<ul class="fields">${items}</ul>`;
}

function answerView(document: OpenApiDocument, [status, response]: [string, OperationObject['responses'][string]]) {
  if ('$ref' in response) {
    if (status === '500') return ''; // The page says it once, at its beginning.
    const name = response.$ref.split('/').at(-1) ?? '';
    const codes = name.split('.').map((code) => html`<a href="#error-${code}"><code>${code}</code></a> `);
    return html`<li><code class="name">${status}</code> ${codes}</li>
`;
  }
  const { content = {}, headers = {}, description } = response;
  const forms = Object.entries(content).map(([type, { schema }]) => {
    return html`${type === 'application/json' ? '' : html` <code>${type}</code>: `}${schemaView(schema)} `;
  });
  const own = Object.keys(headers).filter((name) => name !== 'x-correlation-id' && name !== 'x-request-id');
  const told = own.map((name) => {
    const { description: meaning } = document.components.headers[name] as { readonly description: string };
    return html`<li><code class="name">${name}</code> ${prose(meaning)}</li>
`;
  });
  return html`<li><code class="name">${status}</code> ${forms.length === 0 ? description : forms}${told.length === 0 ? '' : html`<p>It may have these headers:</p><ul class="fields">${told}</ul>`}</li>
`;
}

/** Each code with its meaning. The document has the meanings in its responses, several to one description. */
function errorsView({ components }: OpenApiDocument): Html {
  const meanings = Object.entries(components.responses).flatMap(([name, { description }]) => {
    const parts = description.split(/ ?`(?=[A-Z_]+`: )/).slice(1);
    return name
      .split('.')
      .map((code, index): [string, string] => [code, (parts[index] ?? '').replace(/^[A-Z_]+`: /, '')]);
  });
  const codes = [...new Map(meanings)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return html`<section id="errors">
<h2>Errors</h2>
<p>Every error is an <a href="#schema-Error">Error</a>. Programs should look at its <code>code</code>. The message is for people.</p>
<ul class="fields">${codes.map(
    ([code, meaning]) => html`<li id="error-${code}"><code class="name">${code}</code> ${prose(meaning)}</li>
`,
  )}</ul>
</section>`;
}

function objectsView({ components }: OpenApiDocument): Html {
  const objects = Object.entries(components.schemas).map(([name, schema]) => {
    const { description } = schema;
    return html`<article id="schema-${name}"><h3>${name}</h3>
${typeof description === 'string' ? html`<p>${prose(description)}</p>` : ''}
${schemaView(schema)}</article>
`;
  });
  return html`<section id="objects">
<h2>Objects</h2>
${objects}</section>`;
}
