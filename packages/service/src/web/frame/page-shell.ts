import { Html, html } from '#kernel/html.ts';
import { STYLE } from '#web/frame/style.ts';
import { FRAME_TEXTS } from '#web/frame/texts.ts';
import { isoOf } from '#kernel/clock.ts';
import { sha256 } from '#kernel/crypto.ts';

/** What stands around every page. */
export interface Frame {
  /** As pages call whoever runs the service. */
  readonly operatorName: string;
  /** Where people ask whoever runs it. */
  readonly supportEmail: string | undefined;
  /** Payments are the test processor's: said on the page (ON-03). */
  readonly isTestMoney?: boolean;
}

interface PageText {
  readonly title: string;
  readonly body: Html;
  readonly frame: Frame;
  /** Where the browser goes on to by itself, at once. */
  readonly goesTo?: string;
  /** Something went wrong: said before the title, where a screen reader begins. */
  readonly isError?: boolean;
}

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
interface Script {
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
export function pageOf({ title, body, frame, goesTo, isError = false }: PageText): Html {
  return html`<!doctype html>
<html lang="${FRAME_TEXTS.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${goesTo === undefined ? undefined : html`<meta http-equiv="refresh" content="0;url=${goesTo}">`}
<title>${isError ? FRAME_TEXTS.errorPrefix : ''}${title} - ${frame.operatorName}</title>
${STYLE_ELEMENT}
</head>
<body>
<header>
${frame.isTestMoney === true ? html`<p class="test-money">${FRAME_TEXTS.testMoney}</p>` : undefined}
<div><span class="mark" aria-hidden="true">${letterOf(frame.operatorName)}</span>${frame.operatorName}</div>
</header>
<main>
<h1>${title}</h1>
${body}
</main>
${footerOf(frame)}
</body>
</html>
`;
}

function footerOf({ operatorName, supportEmail }: Frame): Html {
  const mail =
    supportEmail && html`<p>${FRAME_TEXTS.questions} <a href="mailto:${supportEmail}">${supportEmail}</a></p>`;
  return html`<footer><div><p>${FRAME_TEXTS.runBy(operatorName)}</p>${mail}</div></footer>`;
}

/** What stands for a name where it has no picture: its first letter, as people see letters. */
export function letterOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return (first?.segment ?? '').toUpperCase();
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
