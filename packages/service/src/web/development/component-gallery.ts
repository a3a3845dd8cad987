import { sha256 } from '#kernel/crypto/crypto.ts';
import { Html, html } from '#kernel/text/html.ts';
import type { Plane } from '#http/planes/planes.ts';
import { COMPONENT_SAMPLES } from '#web/development/samples/component-samples.ts';
import type { ComponentSample } from '#web/development/samples/sample.ts';
import type { OwnMachineCheck } from '#web/development/own-machine.ts';
import { CONSOLE_STYLE } from '#web/assets/console-style.ts';
import { CONSOLE_STYLE_ELEMENT, PAGE_HEADERS, STYLE_ELEMENT } from '#web/assets/page-policy.ts';
import { DARK_PALETTE, LIGHT_PALETTE, STYLE } from '#web/assets/style.ts';

/**
 * Puts the two palettes side by side, regardless of what the browser prefers. `!important`, because the pages' style makes room by what a page
 * holds (a wide table), and this page holds everything.
 */
const GALLERY_STYLE = `main{max-width:76rem!important}
article{border-top:1px solid var(--line);padding:1.5rem 0}
h3{margin:0 0 .5rem;color:var(--soft);font-size:.875rem}
.looks{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem;margin:0 0 1rem}
.look{background:var(--paper);color:var(--ink);border:1px solid var(--line);border-radius:.6rem;padding:1rem;min-width:0}
.light{color-scheme:light;${LIGHT_PALETTE}}
.dark{color-scheme:dark;${DARK_PALETTE}}
@media(max-width:40rem){.looks{grid-template-columns:1fr}}`;

const HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy':
    `default-src 'none'; style-src ${[STYLE, CONSOLE_STYLE, GALLERY_STYLE].map(digestOf).join(' ')}; img-src 'self'; ` +
    `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

/**
 * Adds `/dev/components`, which shows every component of the pages in each of its states, in light and dark. It is
 * there in development only, as the mailbox is.
 */
export function addComponentGallery(plane: Plane, assertOwnMachine: OwnMachineCheck): void {
  plane.get('/dev/components', { config: { isPublic: true } }, async (request, reply) => {
    assertOwnMachine(request);
    return reply.headers(HEADERS).send(galleryPage().text);
  });
}

/** The page. It shows samples only: it reads no database and knows no request. */
export function galleryPage(): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Components</title>
${STYLE_ELEMENT}${CONSOLE_STYLE_ELEMENT}
${new Html(`<style>${GALLERY_STYLE}</style>`)}
</head>
<body>
<main>
<h1>Components</h1>
<p>Every page is made of these. Each is a function in <code>web/components</code>, shown here in each of its states.</p>
${COMPONENT_SAMPLES.map(sampleView)}
</main>
</body>
</html>
`;
}

/** Each state is made twice, because the ids in it have to differ: a label leads to one field only. */
function sampleView({ component, states }: ComponentSample): Html {
  const views = Object.entries(states).map(
    ([state, show], at) => html`<h3>${state}</h3>
<div class="looks">
<div class="look light">${show(`${component.name}-${at}-light`)}</div>
<div class="look dark">${show(`${component.name}-${at}-dark`)}</div>
</div>
`,
  );
  return html`<article id="component-${component.name}">
<h2><code>${component.name}</code></h2>
${views}</article>
`;
}

function digestOf(style: string): string {
  return `'sha256-${sha256(style).toString('base64')}'`;
}
