import assert from 'node:assert/strict';
import type { Browser } from './browser.ts';
import type { Reply } from './client.ts';
import { assertPage, mainOf } from './page.ts';

/** The fields that a user fills in to agree. */
export const CONSENT = { cap: '20', 'other-cap': '', own: 'yes' } as const;

let people = 0;

/** A person that no other test uses, and their account at the app. */
export function newConnectPerson(): { readonly email: string; readonly user: string } {
  people += 1;
  return { email: `connect-${people}@example.test`, user: `user-${people}` };
}

/** Where a page leads back to: its link, and the address that the browser follows by itself. */
export function wayBackOf(reply: Reply): string {
  assert.equal(reply.status, 200, mainOf(reply));
  const link = textOf(/<a class="button" href="([^"]*)"/.exec(reply.text)?.[1]);
  const refresh = textOf(/<meta http-equiv="refresh" content="0;url=([^"]*)">\n/.exec(reply.text)?.[1]);
  assert.equal(refresh, link);
  return link;
}

function textOf(written = ''): string {
  return written.replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
}

/** Opens the link, agrees, and shows the next page. */
export async function consent(
  browser: Browser,
  link: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  assertPage(await browser.open(link), 200);
  return browser.submit(`${link}/consent`, { ...CONSENT, ...fields });
}

/** The link that consent leads on with. */
export async function consentAndGoOn(
  browser: Browser,
  link: string,
  fields?: Readonly<Record<string, string>>,
): Promise<string> {
  assertPage(await browser.open(link), 200);
  const reply = await browser.ask(`${link}/consent`, {
    form: { ...browser.fieldsOf(`${link}/consent`), ...CONSENT, ...fields },
  });
  assertPage(reply, 303);
  const path = /^(\/connect\/[A-Za-z0-9_-]+)\/topup$/.exec(reply.headers.get('location') ?? '')?.[1];
  assert.ok(path !== undefined, String(reply.headers.get('location')));
  return path;
}
