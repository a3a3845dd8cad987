import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser } from '../../support/browser.ts';
import { insertMessage } from '../../../packages/service/src/mail/queries.ts';
import { mailTo, PASSWORD } from '../../support/control.ts';
import { assertPage, IN_CONSOLE } from '../../support/page.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();

test('ON-04 the root of a development service leads to accounts, the reference, wallets and the mailbox', async () => {
  const browser = openBrowser(service.url);
  const page = await browser.open('/');
  assertPage(page, 200, 'Welcome to Purser');
  const links = [...page.text.matchAll(/<a[^>]* href="([^"]+)"/g)].map(([, path = '']) => path);
  assert.deepEqual(links, ['/register', '/console', '/guides', '/docs', '/wallet', '/dev/mailbox', '/sign-in']);
  for (const path of links) assert.ok([200, 303].includes((await browser.ask(path)).status), path);
});

test('D8 ER-01 a browser gets a page for an address that does not exist, and other clients get the envelope', async () => {
  const browser = openBrowser(service.url);
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  for (const path of ['/nowhere', '/wallet/x/y/z', '/%zz', '/operator']) {
    assertPage(await browser.ask(path, { headers: { accept } }), 404, 'There is nothing here');
    for (const headers of [{ accept: '*/*' }, { accept: 'application/json' }, { accept, authorization: 'Bearer x' }]) {
      const reply = await browser.ask(path, { headers });
      assert.equal(reply.status, 404);
      assert.equal(reply.error['code'], 'NOT_FOUND');
    }
  }
  const posted = await browser.ask('/nowhere', { form: { a: 'b' }, headers: { accept } });
  assert.equal(posted.error['code'], 'NOT_FOUND');
});

test('D8 every page names an icon, which the service has', async () => {
  const browser = openBrowser(service.url);
  const [, path = ''] = /<link rel="icon" href="([^"]+)"/.exec((await browser.open('/')).text) ?? [];
  for (const address of [path, '/favicon.ico']) {
    const icon = await browser.ask(address);
    assert.equal(icon.status, 200);
    assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
    assert.match(icon.text, /^<svg [^]*<\/svg>$/m);
  }
});

test('D8 CP-01 where registering is open, the sign-in links to it, and the new account is signed in', async () => {
  const browser = openBrowser(service.url);
  assert.match((await browser.open('/sign-in')).text, /<a href="\/register">Create an account<\/a>/);
  await browser.open('/register');
  const email = 'new-owner@example.test';
  for (const wrong of [
    { email, 'new-password': 'short' },
    { email: 'nobody', 'new-password': PASSWORD },
  ]) {
    assertPage(await browser.submit('/register', wrong), 400, 'Create an account');
  }
  assertPage(await browser.submit('/register', { email, 'new-password': PASSWORD }), 200, 'Your apps', IN_CONSOLE);
  assert.match(browser.page().text, /We have mailed you a link/);
  assert.match((await browser.open('/account')).text, /new-owner@example\.test/);
  const other = openBrowser(service.url);
  await other.open('/register');
  assertPage(await other.submit('/register', { email, 'new-password': PASSWORD }), 409, 'Create an account');
});

test('CP-01 the list of the mailbox shows the code of a sign-in, and no token of a link', async () => {
  const browser = openBrowser(service.url);
  const email = 'codes@example.test';
  await browser.open('/wallet/sign-in');
  await browser.submit('/wallet/sign-in', { email });
  const { token: code } = await mailTo(service, email);
  await insertMessage(service.database.owner, {
    recipient: email,
    subject: 'x',
    html: 'x',
    body: `    ${'t'.repeat(43)}\n`,
  });
  const { text } = await browser.ask('/dev/mailbox');
  assert.ok(text.includes(`<code class="code">${code}</code>`), text);
  assert.ok(!text.includes('ttt'), text);
});
