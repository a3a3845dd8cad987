import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureSignIn } from '../../../packages/service/src/developers/sign-in/ensure-account.ts';
import { send } from '../../support/client.ts';
import { newOwner, PASSWORD } from '../../support/control.ts';
import { assertPage, IN_ACCOUNT, openBrowser, signedInBrowser } from '../../support/page.ts';
import { SCRIPT } from '../../support/passkeys.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();
const SESSION = '__Host-purser-session';

test('PG-02 a form from another or unnamed site does nothing', async () => {
  const { email } = await newOwner(service);
  const browser = await signedInBrowser(service, email);
  const form = browser.fieldsOf('/sign-out');
  const foreign = ['https://evil.test', 'https://purser.test.evil.test', 'http://purser.test', 'null', '', undefined];
  for (const origin of foreign) {
    assertPage(await browser.ask('/sign-out', { form, origin }), 403, 'This did not work');
  }
  const host = new URL(service.url).host; // With TLS, the address without TLS is no origin of ours.
  assertPage(await browser.ask('/sign-out', { form, origin: `http://${host}` }), 403, 'This did not work');
  assertPage(await browser.open('/account'), 200, 'Your account', IN_ACCOUNT);
});

test('PG-02 a form with a missing, forged or foreign token does nothing', async () => {
  const { email } = await newOwner(service);
  const browser = await signedInBrowser(service, email);
  const other = await signedInBrowser(service, (await newOwner(service)).email);
  const right = browser.fieldsOf('/sign-out')['form'] ?? '';
  const wrong = [
    '',
    `${right.slice(0, -1)}${right.endsWith('A') ? 'B' : 'A'}`,
    `${right}A`,
    browser.fieldsOf('/account/password')['form'] ?? '',
    other.fieldsOf('/sign-out')['form'] ?? '',
  ];
  for (const token of wrong) {
    assertPage(await browser.ask('/sign-out', { form: { form: token } }), 403, 'This did not work');
  }
  assertPage(await browser.ask('/sign-out', { form: {} }), 403, 'This did not work');
  assertPage(await browser.open('/account'), 200, 'Your account', IN_ACCOUNT);
});

test('PG-02 a form from another browser cannot sign its user in', async () => {
  const { email } = await newOwner(service);
  const attacker = openBrowser(service.url);
  await attacker.open('/sign-in');
  const form = { ...attacker.fieldsOf('/sign-in'), email, password: PASSWORD };
  const victim = openBrowser(service.url);
  assertPage(await victim.ask('/sign-in', { form }), 403, 'This did not work');
  await victim.open('/sign-in');
  assertPage(await victim.ask('/sign-in', { form }), 403, 'This did not work');
  assert.equal(victim.cookies.has(SESSION), false);
});

test('AU-05 a cookie opens no API route, a bearer token no page', async () => {
  const { email, token } = await newOwner(service);
  const page = await send('/account', { url: service.url, key: token ?? '' });
  assertPage(page, 303);
  assert.equal(page.headers.get('location'), '/sign-in');
  const browser = await signedInBrowser(service, email);
  const origin = 'https://purser.test';
  for (const path of ['/sessions/current', '/sessions', '/apps', '/operator/apps']) {
    assert.equal((await browser.ask(path)).status, 401, path);
  }
  assert.equal((await browser.ask('/apps', { form: { name: 'x' }, origin })).status, 401);
});

test('PG-03 markup in names and typed text is shown as text', async () => {
  const markup = `"><img src=x onerror=alert(1)>'</title><script>alert(2)</script>&amp;`;
  const email = `"<b>'&"@example.test`;
  await ensureSignIn(service.database.owner, { email, password: PASSWORD, name: markup, role: 'owner' });
  const browser = await signedInBrowser(service, email);
  assertPage(browser.page(), 200, 'Your account', IN_ACCOUNT);
  assert.ok(!/<img|<b>|<script/.test(browser.page().text), browser.page().text);
  assert.match(browser.page().text, /&#34;&#62;&#60;img src=x onerror=alert\(1\)&#62;&#39;/);
  const stranger = openBrowser(service.url);
  await stranger.open('/sign-in');
  const wrong = await stranger.submit('/sign-in', { email: markup, password: 'x' });
  assertPage(wrong, 401, 'Sign in', SCRIPT);
  assert.match(wrong.text, /value="&#34;&#62;&#60;img/);
});

test('PG-03 names take no characters that control or turn text, and stored ones show none', async () => {
  const owner = await newOwner(service);
  const { body: made } = await owner.ask('POST', '/apps', { name: 'Plain' });
  const keys = `/apps/${String(made['appId'])}/keys`;
  for (const odd of [
    'txt\u202egpj',
    'a\u2066b',
    'a\u061cb',
    'a\u200fb',
    'a\nb',
    'a\u0007b',
    'a\u2028b',
    '\u200b\u2060',
  ]) {
    const refused = [
      await owner.ask('POST', '/apps', { name: odd }),
      await owner.ask('PATCH', `/apps/${String(made['appId'])}`, { name: odd }),
      await owner.ask('POST', keys, { mode: 'sandbox', name: odd }),
      await send('/accounts', {
        url: service.url,
        method: 'POST',
        body: JSON.stringify({ email: 'odd@example.test', password: PASSWORD, name: odd }),
      }),
    ];
    for (const { status, text } of refused)
      assert.deepEqual([status, /must (not contain control|contain visible)/.test(text)], [400, true], text);
  }
  assert.equal((await owner.ask('POST', '/apps', { name: 'مرحبا Größe 你好' })).status, 201);
  const email = 'turned@example.test';
  await ensureSignIn(service.database.owner, {
    email,
    password: PASSWORD,
    name: 'Turned \u202eeman\u0007',
    role: 'owner',
  });
  const browser = await signedInBrowser(service, email);
  assert.match(browser.page().text, /Turned \ufffdeman\ufffd/);
});

test('PG-04 cookies are host-only, https-only and hidden from scripts', async () => {
  const browser = openBrowser(service.url);
  const first = await browser.open('/sign-in');
  const [form = ''] = first.headers.getSetCookie();
  assert.match(form, /^__Host-purser-form=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  const { email } = await newOwner(service);
  const fields = { ...browser.fieldsOf('/sign-in'), email, password: PASSWORD };
  const reply = await browser.ask('/sign-in', { form: fields });
  assertPage(reply, 303);
  const [session = '', device = ''] = reply.headers.getSetCookie();
  assert.match(
    session,
    /^__Host-purser-session=svc_session_\w{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=2592000$/,
  );
  assert.match(device, /^__Host-purser-device=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=15552000$/);
});

test('PG-02 pages refuse bodies that are not forms and other methods', async () => {
  const browser = openBrowser(service.url);
  await browser.open('/sign-in');
  const form = browser.fieldsOf('/sign-in');
  const json = { 'content-type': 'application/json' };
  assertPage(await browser.ask('/sign-in', { form, headers: json }), 400, 'This did not work');
  assertPage(await browser.ask('/sign-in', { form: { ...form, email: 'x'.repeat(20_000) } }), 413, 'This did not work');
  assertPage(await browser.ask('/sign-in', { form: { ...form, email: 'a\0b' } }), 400, 'This did not work');
  assert.equal((await send('/sign-in', { url: service.url, method: 'PUT' })).status, 405);
  for (const path of ['/sign-out', '/account/sessions', '/account/password']) {
    const reply = await browser.ask(path); // The page to which a refused form leads back.
    assertPage(reply, 303);
    assert.equal(reply.headers.get('location'), '/account');
  }
});
