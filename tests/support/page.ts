import assert from 'node:assert/strict';
import { type Reply, send } from './client.ts';
import { PASSWORD, type Person } from './control.ts';
import type { TestService } from './service.ts';

/** A browser without scripts. It keeps cookies and submits the forms of the page it shows. */
export type Browser = ReturnType<typeof openBrowser>;

interface Asked {
  readonly form?: Readonly<Record<string, string>>;
  /** The origin that is sent. It is undefined if none is sent. */
  readonly origin?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const REDIRECTS_MAX = 5;
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

/** Opens a browser. `origin` is the service's public one. */
export function openBrowser(url: string, origin = 'https://purser.test') {
  const cookies = new Map<string, string>();
  let shown: Reply | undefined;

  const cookieHeader = (): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

  async function ask(path: string, { form, headers = {}, ...asked }: Asked = {}): Promise<Reply> {
    const from = 'origin' in asked ? asked.origin : origin;
    const kept = cookieHeader();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await send(path, {
      url,
      headers: {
        ...(kept === '' ? {} : { cookie: kept }),
        ...(form === undefined ? {} : { ...type, ...(from === undefined ? {} : { origin: from }) }),
        ...headers,
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
    });
    for (const line of reply.headers.getSetCookie()) keep(cookies, line);
    return reply;
  }

  async function follow(first: Reply): Promise<Reply> {
    shown = first;
    for (let times = 0; shown.status === 303; times += 1) {
      assert.ok(times < REDIRECTS_MAX, 'the way ends');
      const location = shown.headers.get('location') ?? '';
      shown = await ask(location.startsWith(`${origin}/`) ? location.slice(origin.length) : location);
    }
    return shown;
  }

  const fieldsOf = (action: string, which?: string) => fieldsIn(shown?.text ?? '', action, which);

  return {
    /** Opens a page and follows its redirects. */
    open: async (path: string) => follow(await ask(path)),
    /** Sends one request without following redirects. */
    ask,
    /** Fills in the page's form that posts to `action`, submits it and follows the redirects. */
    submit: async (action: string, fields: Readonly<Record<string, string>> = {}, which?: string) =>
      follow(await ask(action, { form: { ...fieldsOf(action, which), ...fields } })),
    /** Opens a page and sends its form with a file, without following redirects. */
    sendFile: async (
      path: string,
      fields: Readonly<Record<string, string>>,
      file: Buffer,
    ): Promise<Pick<Reply, 'status' | 'text' | 'headers'>> => {
      await follow(await ask(path));
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...fieldsOf(path), ...fields })) {
        if (name !== 'file') form.append(name, value);
      }
      form.append('file', new Blob([new Uint8Array(file)]), 'report.csv');
      const headers = { cookie: cookieHeader(), origin, 'accept-language': 'en' };
      const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: form, redirect: 'manual' });
      return { status: reply.status, text: await reply.text(), headers: reply.headers };
    },
    /** The fields that a form of the page would send unfilled. `which`: a text that the form must contain. */
    fieldsOf,
    cookies,
    /** The page that it shows. */
    page: () => shown ?? assert.fail('no page was opened'),
  };
}

function fieldsIn(page: string, action: string, which = ''): Record<string, string> {
  const forms = [...page.matchAll(/<form method="post" action="([^"]+)"[^>]*>([^]*?)<\/form>/g)];
  const form = forms.find(([all, target = '']) => target.replaceAll('&#38;', '&') === action && all.includes(which));
  assert.ok(form !== undefined, `the page has a form to ${action}: ${page}`);
  const inputs = ((form[2] ?? '').match(/<input [^>]+>/g) ?? []).filter(isSent);
  return Object.fromEntries(inputs.map((input) => [attributeOf(input, 'name'), attributeOf(input, 'value')]));
}

/** A box that nobody has checked is not sent. A required one counts as checked. */
function isSent(input: string): boolean {
  return !input.includes(' type="checkbox"') || / (?:checked|required)\b/.test(input);
}

/** What an attribute of an element says. */
export function attributeOf(element: string, name: string): string {
  return textOf(new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1]);
}

function textOf(written = ''): string {
  return written.replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
}

function keep(cookies: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  if (/; Max-Age=0(;|$)/.test(line)) cookies.delete(name);
  else cookies.set(name, value);
}

/** A browser in which an operator is signed in. */
export function operatorBrowser({ url }: TestService, { token = '' }: Person): Browser {
  const browser = openBrowser(url);
  browser.cookies.set('__Host-purser-session', token);
  return browser;
}

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

/** Where a page leads back to: its link, and the address that the browser follows by itself. */
export function wayBackOf(reply: Reply): string {
  assert.equal(reply.status, 200, mainOf(reply));
  const link = textOf(/<a class="button" href="([^"]*)"/.exec(reply.text)?.[1]);
  const refresh = textOf(/<meta http-equiv="refresh" content="0;url=([^"]*)">\n/.exec(reply.text)?.[1]);
  assert.equal(refresh, link);
  return link;
}
