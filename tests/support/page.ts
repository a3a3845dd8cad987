import assert from 'node:assert/strict';
import { type Browser, openBrowser } from './browser.ts';
import type { Reply } from './client.ts';
import { PASSWORD } from './control.ts';
import type { TestService } from './service.ts';

const PAGE_BYTES_MAX = 50_000;

/** The properties that every page and every redirect to a page must have. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
/** What a page may do beyond being read. */
export interface Allowed {
  readonly hasScript?: boolean;
  /** It has the style of the console besides that of all pages. */
  readonly isConsole?: boolean;
  /** The origins that its forms may lead to. */
  readonly formTargets?: readonly string[];
}

const DIGEST = /'sha256-[A-Za-z0-9+/]{43}='/g;

/** Returns the page without its head, for messages. */
export function mainOf({ text }: Reply): string {
  return text.replace(/^[^]*<main>/, '');
}

/** Asserts a correct whole page with this status and heading or, with 303, a redirect to one. */
export function assertPage(reply: Reply, status: number, title?: string, allowed: Allowed = {}): void {
  assert.equal(reply.status, status, mainOf(reply));
  for (const [name, value] of Object.entries(HEADERS)) assert.equal(reply.headers.get(name), value, name);
  const policy = reply.headers.get('content-security-policy') ?? '';
  assert.equal(policy.replace(DIGEST, 'OURS'), policyOf(allowed));
  assert.match(reply.headers.get('x-correlation-id') ?? '', /^cor_/);
  if (status === 303) return;
  assert.ok(Buffer.byteLength(reply.text) < PAGE_BYTES_MAX, String(reply.text.length));
  assert.ok(reply.text.startsWith('<!doctype html>\n<html lang="en">'));
  // Pages lead to no other host, except back to the app. The value of a field leads nowhere.
  const harmless = / (href="https:\/\/app\.test\/|value="https?:)[^"]*"/g;
  assert.doesNotMatch(reply.text.replaceAll(harmless, ''), /"(javascript|https?):/i);
  assert.equal(reply.text.includes('<script'), allowed.hasScript === true);
  assert.doesNotMatch(reply.text.replace(/"[^"]*"/g, '""'), /<[^>]* on[a-z]+=/i);
  const labelled = [...reply.text.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id);
  const inputs = [...reply.text.matchAll(/<(?:input|textarea|select) ([^>]*)>/g)].map(
    ([, attributes = '']) => attributes,
  );
  const shown = inputs.filter((attributes) => !/type="hidden"| hidden/.test(attributes));
  assert.deepEqual(
    shown.map((attributes) => /id="([^"]+)"/.exec(attributes)?.[1]),
    labelled,
  );
  const [, heading] = /<h1>([^<]*)<\/h1>/.exec(reply.text) ?? [];
  if (title !== undefined) assert.equal(heading, title, mainOf(reply));
  const error = status >= 400 ? 'Error: ' : '';
  const [, operator] = /<\/span>([^<]+)<\/div>\n/.exec(reply.text) ?? [];
  assert.ok(reply.text.includes(`<title>${error}${heading} - ${operator}</title>`), reply.text);
  assert.equal(status >= 400, reply.text.includes('role="alert"'), reply.text);
}

function policyOf({ hasScript = false, isConsole = false, formTargets = [] }: Allowed): string {
  const styles = isConsole ? 'OURS OURS' : 'OURS';
  const script = hasScript ? "script-src OURS; connect-src 'self'; " : '';
  const forms = ["'self'", ...formTargets].join(' ');
  return `default-src 'none'; style-src ${styles}; img-src 'self'; ${script}base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`;
}

/** What every page of the console may do: copy, and stay current. */
export const IN_CONSOLE = { hasScript: true, isConsole: true };

/** Every other page of somebody who is signed in: their account, or an invitation. */
export const IN_ACCOUNT = { isConsole: true };

/** A browser that has just signed in, and shows its account. `home`: the page where one begins, for operators `Overview`. */
export async function signedInBrowser({ url }: TestService, email: string, home = 'Your apps'): Promise<Browser> {
  const browser = openBrowser(url);
  await browser.open('/sign-in');
  assertPage(await browser.submit('/sign-in', { email, password: PASSWORD }), 200, home, IN_CONSOLE);
  assertPage(await browser.open('/account'), 200, 'Your account', IN_ACCOUNT);
  return browser;
}
