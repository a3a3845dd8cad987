import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../../support/page.ts';
import type { Reply } from '../../support/client.ts';
import { setConnectStage } from '../../support/connect-stage.ts';
import { browserOf, walletOwnersOf } from '../../support/people.ts';
import { beginTopup, checkoutPath, hurry, payBy, refusedPath } from '../../support/topup.ts';

const { service, newConnectApp } = await setConnectStage();
const newOwner = walletOwnersOf(service);
const app = await newConnectApp();
const user = 'headers';
const owner = await newOwner();
const connectionId = await owner.connect(app, user);
const topup = await refusedPath(service, app, user);
const processor = await beginTopup(owner.browser, topup, { amount: '5000000' });
const checkout = await checkoutPath(service, user);
const connect = await app.linkFor(user);

/** The headers of every page, and of every redirect to one. Extra permissions in a policy are listed below. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src OURS; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};
/** The headers of answers that have a body besides: a page may be compressed (decision 26). */
const PAGE_HEADERS = { ...HEADERS, vary: 'accept-encoding, cookie, sec-fetch-site' };
/** Headers that belong to a single answer, or to the connection. */
const OTHERS = /^(x-(correlation|request)-id|content-length|set-cookie|location|date|connection|keep-alive)$/;
const SCRIPTED = "img-src 'self'; script-src OURS; connect-src 'self';";

const wallet = `/wallet/${connectionId}`;
const PATHS = [
  '/wallet',
  '/wallet/sign-in',
  '/wallet/sign-in?then=//evil.test',
  '/wallet/code',
  '/wallet/sign-out',
  '/wallet/passkeys',
  '/wallet/passkeys/use',
  '/wallet/passkeys/remove',
  '/wallet/x',
  wallet,
  `${wallet}?receipt=x`,
  ...['cap', 'pause', 'topup', 'reconnect', 'disconnect', 'refund', 'agents'].map((below) => `${wallet}/${below}`),
  ...['', '/consent', '/cap', '/pay'].map((below) => topup + below),
  ...['', '/consent', '/topup', '/done', '/cancel'].map((below) => connect + below),
  '/topup/sandbox',
  '/topup/x',
  '/connect/sandbox',
  '/connect/x',
  checkout,
  `${checkout}?paid=no`,
  '/checkout/x',
  processor,
  '/test-processor/x',
];

function headersOf({ headers }: Reply): Record<string, string> {
  const kept = [...headers].filter(([name]) => !OTHERS.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, value.replaceAll(/'sha256-[^']{44}'/g, 'OURS')]));
}

test('PG-01 every wallet owner page has exactly the page headers', async () => {
  const visitors = [openBrowser(service.url), owner.browser, await browserOf(service, 'stranger@example.test')];
  const seen = new Set<number>();
  for (const path of PATHS) {
    for (const visitor of visitors) {
      const got = await visitor.ask(path);
      const forged = await visitor.ask(path, { form: { form: 'forged' } });
      const foreign = await visitor.ask(path, { form: {}, origin: 'https://evil.test' });
      for (const reply of [got, forged, foreign]) {
        seen.add(reply.status);
        if (reply.status === 405) continue; // The answer is the envelope: this address takes no forms.
        const headers = headersOf(reply);
        const policy = headers['content-security-policy'] ?? '';
        const isScripted = reply.text.includes('<script');
        const unstyled = reply.text.includes('class="snippet"') ? policy.replace('OURS OURS', 'OURS') : policy;
        const unscripted = unstyled.replace(SCRIPTED, "img-src 'self';");
        assert.equal(unscripted !== unstyled, isScripted, `${path}: a script is allowed only if the page has one`);
        const expected = reply.status === 303 ? HEADERS : PAGE_HEADERS;
        assert.deepEqual({ ...headers, 'content-security-policy': unscripted }, expected, `${path} ${reply.status}`);
      }
      assert.ok(forged.status >= 400 && foreign.status >= 400, path);
    }
  }
  assert.deepEqual(
    [...seen].toSorted((one, other) => one - other),
    [200, 303, 403, 404, 405],
  );
});

test('ON-01 every page about an app shows its name and picture', async () => {
  const MARK = /<p class="app"><span class="letter" aria-hidden="true">N<\/span>Notes<\/p>/;
  const [below, paying] = [
    ['', '/disconnect', '/refund', '/agents', '/sessions'].map((step) => wallet + step),
    ['', '/pay'].map((step) => topup + step),
  ];
  for (const path of ['/wallet', ...below, ...paying, connect, `${connect}/topup`, checkout, `${checkout}?paid=no`]) {
    const reply = await owner.browser.ask(path);
    assert.equal(reply.status, 200, path);
    assert.match(reply.text, MARK, path);
  }
});

test('PG-01 only waiting and passkey pages may run a script', async () => {
  const scripted = new Set<string>();
  for (const visitor of [openBrowser(service.url), owner.browser]) {
    for (const path of PATHS) if ((await visitor.ask(path)).text.includes('<script')) scripted.add(path);
  }
  const signIn = ['/wallet/sign-in', '/wallet/sign-in?then=//evil.test', '/wallet/passkeys'];
  assert.deepEqual([...scripted].toSorted(), [...signIn, checkout, `${checkout}?paid=no`].toSorted());
  await payBy(owner.browser, processor, 'success');
  await hurry(service, processor);
  assert.deepEqual(headersOf(await owner.browser.ask(checkout)), PAGE_HEADERS);
});
