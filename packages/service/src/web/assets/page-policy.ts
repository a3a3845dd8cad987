import { Html } from '#kernel/text/html.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { CONSOLE_STYLE } from '#web/assets/console-style.ts';
import { STYLE } from '#web/assets/style.ts';

const STYLE_DIGEST = digestOf(STYLE);
const CONSOLE_STYLE_DIGEST = digestOf(CONSOLE_STYLE);

/** The style as it stands in a page. The policy allows exactly this text, so a page cannot be given another. */
export const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

/** What pages of the console have besides. */
export const CONSOLE_STYLE_ELEMENT = new Html(`<style>${CONSOLE_STYLE}</style>`);

/** What a page may do beyond being read. */
export interface PageNeeds {
  /** Origins that a form may end at after a redirect: the payment processor's. Browsers apply `form-action` to redirects too. */
  readonly formTargets?: readonly string[];
  /** The page's only script, made by `scriptOf`. */
  readonly script?: Script;
  /** Whether it is a page of the console, which has a style besides that of all pages. */
  readonly isConsole?: boolean;
}

/** A script of ours. The policy allows it by its digest, and lets it talk to this service only. */
interface Script {
  readonly element: Html;
  readonly digest: string;
}

export function scriptOf(text: string): Script {
  return { element: new Html(`<script>${text}</script>`), digest: digestOf(text) };
}

/** The content security policy of a page. Images may come from this service only: they are the logos of apps. */
export function policyOf({ formTargets = [], script, isConsole = false }: PageNeeds): string {
  const consoleStyle = isConsole ? ` 'sha256-${CONSOLE_STYLE_DIGEST}'` : '';
  const scripts = script === undefined ? '' : `script-src 'sha256-${script.digest}'; connect-src 'self'; `;
  return (
    `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'${consoleStyle}; img-src 'self'; ${scripts}base-uri 'none'; ` +
    `form-action ${["'self'", ...formTargets].join(' ')}; frame-ancestors 'none'`
  );
}

/**
 * The headers of every page. A page loads nothing from elsewhere, no other site may frame it, and none learns its
 * address. The referrer policy is `same-origin` and not `no-referrer`: with that one, browsers send `Origin: null` with
 * a form, and the check of where a form comes from needs the origin.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

function digestOf(text: string): string {
  return sha256(text).toString('base64');
}
