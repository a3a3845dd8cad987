import { Html, html } from '#http/pages/html.ts';
import { isoOf } from '#kernel/clock.ts';
import { sha256 } from '#kernel/crypto.ts';

interface PageText {
  readonly title: string;
  readonly body: Html;
  /** Something went wrong: said before the title, where a screen reader begins. */
  readonly isError?: boolean;
}

/** One style for every page, light and dark, from 360 px up. The policy below allows it by its digest. */
const STYLE = `:root{color-scheme:light dark;--ink:#1d2228;--soft:#59626d;--line:#cdd3da;--paper:#fff;--ground:#f5f6f8;--accent:#1f5fbf;--on-accent:#fff;--alert:#a3191f;--good:#17663a}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#a3adb8;--line:#3d4650;--paper:#1b2026;--ground:#12161b;--accent:#8ab6ff;--on-accent:#0c1a30;--alert:#ff9a96;--good:#7fd6a3}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main{max-width:34rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.25rem;color:var(--soft);font-weight:600}
h1{font-size:1.6rem;line-height:1.25;margin:1.25rem 0 1rem}
h2{font-size:1.15rem;margin:0 0 .5rem}
section,.card{background:var(--paper);border:1px solid var(--line);border-radius:.6rem;padding:1.25rem;margin:0 0 1.25rem}
label{display:block;font-weight:600;margin:0 0 .25rem}
input{width:100%;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:.4rem;padding:.6rem .7rem;margin:0 0 1rem}
button{font:inherit;font-weight:600;cursor:pointer;color:var(--on-accent);background:var(--accent);border:1px solid var(--accent);border-radius:.4rem;padding:.6rem 1.1rem}
button.quiet{color:var(--accent);background:transparent}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
p{margin:0 0 1rem}
.hint,.soft{color:var(--soft)}
.hint{margin:-.75rem 0 1rem;font-size:.9rem}
.alert,.good{border-left:4px solid;padding:.5rem .9rem}
.alert{color:var(--alert)}
.good{color:var(--good)}
dl{margin:0 0 1rem;display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem}
dt{color:var(--soft)}
dd{margin:0}
ul{list-style:none;margin:0 0 1rem;padding:0}
li{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;border-top:1px solid var(--line);padding:.75rem 0}
section>:last-child,.card>:last-child,li>*,section form{margin-bottom:0}
form+form{margin-top:1rem}`;

const STYLE_DIGEST = sha256(STYLE).toString('base64');
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

/** What a page may do beyond being read. */
export interface PageNeeds {
  /** Origins that a form of it may end at, by a redirect: a payment processor, the app that asked. */
  readonly formTargets?: readonly string[];
  /** The one script of it, see `scriptOf`. */
  readonly script?: Script;
}

/** A script of ours, which the policy of its page allows by its digest. It may ask this service, and nobody else. */
export interface Script {
  readonly element: Html;
  readonly digest: string;
}

export function scriptOf(text: string): Script {
  return { element: new Html(`<script>${text}</script>`), digest: sha256(text).toString('base64') };
}

/** The policy of a page. Images are those of this service: the logos of apps. */
export function policyOf({ formTargets = [], script }: PageNeeds): string {
  const scripts = script === undefined ? '' : `script-src 'sha256-${script.digest}'; connect-src 'self'; `;
  return (
    `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; img-src 'self'; ${scripts}base-uri 'none'; ` +
    `form-action ${["'self'", ...formTargets].join(' ')}; frame-ancestors 'none'`
  );
}

/**
 * Of every page. Nothing is loaded but the page itself, no other site may frame it or get its forms, and none learns its
 * address. `same-origin`, not `no-referrer`: with that, a browser names no origin with a form, and forms are checked by it.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** A whole page. */
export function pageOf({ title, body, isError = false }: PageText): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isError ? 'Error: ' : ''}${title} - Purser</title>
${STYLE_ELEMENT}
</head>
<body>
<header>Purser</header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

/** What went wrong, read out at once. */
export function alertOf(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p class="alert" role="alert">${message}</p>`;
}

/** What was done. */
export function noticeOf(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p class="good" role="status">${message}</p>`;
}

/** A moment as people read it, to the minute. */
export function momentOf(epochMs: number): Html {
  return html`<time datetime="${isoOf(epochMs)}">${momentText(epochMs)}</time>`;
}

export function momentText(epochMs: number): string {
  return `${isoOf(epochMs).slice(0, 16).replace('T', ' ')} UTC`;
}
