import { sealedEmail, mailsTo } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthenticator } from '../../support/authenticator.ts';
import { openBrowser } from '../../support/page.ts';
import { assertPage, mainOf } from '../../support/page.ts';
import {
  addPasskey,
  optionsOf,
  passkeyOwner,
  passkeysOf,
  PASSKEYS_TITLE,
  SCRIPT,
  signInByPasskey,
} from '../../support/passkeys.ts';
import { browserOf, PERSON_COOKIE } from '../../support/people.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';

/** Passkeys: offered once somebody is signed in, never needed. */

const { service } = await setStage();
const { owner } = service.database;

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
  test(`ON-01 a passkey of ${algorithm} is added by a signed-in person and signs them in`, async () => {
    const { email, browser, authenticator } = await passkeyOwner(service, createAuthenticator({ algorithm }));
    assert.match(browser.page().text, /role="status">The passkey was added/);
    assert.match(browser.page().text, /Never used/);
    const fresh = openBrowser(service.url);
    assertPage(await signInByPasskey(fresh, authenticator), 200, PASSKEYS_TITLE, SCRIPT);
    assert.ok(fresh.page().text.includes(email), mainOf(fresh.page()));
    assert.match(fresh.page().text, /Last used/);
    assert.notEqual(fresh.cookies.get(PERSON_COOKIE), browser.cookies.get(PERSON_COOKIE));
    assert.ok(fresh.cookies.has('__Host-purser-known'));
  });
}

test('ON-01 the options require unlocking and name only the signed-in person', async () => {
  const { email, browser, authenticator } = await passkeyOwner(service);
  const asked = optionsOf(await browser.open('/wallet/passkeys'));
  const identityId = await sqlValue<string>(owner)`select identity_id from identities.identities
    where email = ${sealedEmail(email)}`;
  const handle = Buffer.from(identityId ?? '').toString('base64url');
  assert.deepEqual(
    { ...asked, challenge: undefined },
    {
      challenge: undefined,
      rp: { id: 'purser.test', name: 'Purser' },
      user: { id: handle, name: email, displayName: email },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
      timeout: 300_000,
      excludeCredentials: [{ id: authenticator.credentialId, type: 'public-key' }],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    },
  );
  const page = await openBrowser(service.url).open('/wallet/sign-in');
  assertPage(page, 200, 'Sign in', SCRIPT);
  const { challenge, ...more } = optionsOf(page);
  assert.match(challenge, /^[\w-]{70}$/);
  assert.deepEqual(more, { rpId: 'purser.test', timeout: 300_000, userVerification: 'required' });
});

test('ON-01 only its person can remove a passkey', async () => {
  const { email, browser, authenticator } = await passkeyOwner(service);
  const other = await passkeyOwner(service);
  const form = { ...other.browser.fieldsOf('/wallet/passkeys/remove'), passkey: authenticator.credentialId };
  await other.browser.ask('/wallet/passkeys/remove', { form });
  assert.equal(await passkeysOf(service, email), 1);
  await browser.open('/wallet/passkeys');
  const reply = await browser.submit('/wallet/passkeys/remove', {}, authenticator.credentialId);
  assertPage(reply, 200, PASSKEYS_TITLE, SCRIPT);
  assert.match(reply.text, /role="status">The passkey was removed/);
  assert.equal(await passkeysOf(service, email), 0);
  const fresh = openBrowser(service.url);
  assertPage(await signInByPasskey(fresh, authenticator), 400, 'Sign in');
  assert.equal(await passkeysOf(service, other.email), 1);
});

test('ON-01 a passkey belongs to one person, who has at most ten', async () => {
  const { authenticator } = await passkeyOwner(service);
  const email = 'another@example.test';
  const browser = await browserOf(service, email);
  assertPage(await addPasskey(browser, authenticator), 400, PASSKEYS_TITLE, SCRIPT);
  for (let count = 0; count < 10; count += 1)
    assert.equal((await addPasskey(browser, createAuthenticator())).status, 200);
  const reply = await addPasskey(browser, createAuthenticator());
  assertPage(reply, 400, PASSKEYS_TITLE, SCRIPT);
  assert.match(reply.text, /You already have 10 passkeys/);
  assert.equal(await passkeysOf(service, email), 10);
});

test('ON-01 a passkey and the mail about it are stored together', async () => {
  const email = 'untold@example.test';
  const browser = await browserOf(service, email);
  const authenticator = createAuthenticator();
  await owner.query(
    `alter table mail.messages add constraint untold check (sealed_recipient <> '${sealedEmail(email)}')`,
  );
  assertPage(await addPasskey(browser, authenticator), 500);
  assert.equal(await passkeysOf(service, email), 0);
  await sql(owner)`alter table mail.messages drop constraint untold`;
  await sql(owner)`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`;
  await sql(owner)`create constraint trigger never after insert on identities.passkeys deferrable initially deferred
    for each row execute function refuse()`; // When all is written.
  assertPage(await addPasskey(browser, authenticator), 500);
  assert.deepEqual(await mailsTo(owner, email), []);
  await sql(owner)`drop function refuse cascade`;
  assertPage(await addPasskey(browser, authenticator), 200, PASSKEYS_TITLE, SCRIPT);
  assert.equal(await passkeysOf(service, email), 1);
});

test('ON-01 a new passkey is announced by mail', async () => {
  const { email } = await passkeyOwner(service);
  const [mail, ...more] = await mailsTo(owner, email);
  assert.deepEqual([mail?.subject, more], ['A passkey was added to your wallet', []]);
  assert.ok(mail?.body?.includes('https://purser.test/wallet/passkeys\n'));
  assert.ok(mail?.html?.includes('href="https://purser.test/wallet/passkeys"'));
});

test('ON-01 only the signed-in person sees and manages their passkeys', async () => {
  const { browser } = await passkeyOwner(service);
  assert.match(browser.page().text, /<noscript><p class="soft">You need JavaScript to add a passkey/);
  const fields = browser.fieldsOf('/wallet/passkeys/remove');
  const nobody = openBrowser(service.url);
  assertPage(await nobody.open('/wallet/passkeys'), 200, 'Sign in', SCRIPT);
  assertPage(await nobody.ask('/wallet/passkeys/remove', { form: fields }), 403, 'This did not work');
  for (const [path, leads] of [
    ['/wallet/passkeys/use', '/wallet/sign-in'],
    ['/wallet/passkeys/remove', '/wallet/passkeys'],
  ] as const) {
    assert.equal((await browser.ask(path)).headers.get('location'), leads);
  }
});

test('ON-01 a service reached by an IP address offers no passkey', async () => {
  for (const publicUrl of ['http://127.0.0.1:8787', 'http://[::1]:8787', 'https://192.0.2.1']) {
    const gateway = await startSecondGateway(service, { PURSER_PUBLIC_URL: publicUrl });
    try {
      const browser = openBrowser(gateway.url, publicUrl);
      const page = await browser.open('/wallet/sign-in');
      assertPage(page, 200, 'Sign in');
      assert.doesNotMatch(page.text, /passkey/);
      const { cookies } = await browserOf(service, 'by-address@example.test');
      const prefix = publicUrl.startsWith('https') ? '__Host-' : '';
      browser.cookies.set(`${prefix}purser-person`, cookies.get(PERSON_COOKIE) ?? '');
      assertPage(await browser.open('/wallet/passkeys'), 200, PASSKEYS_TITLE);
      assert.match(browser.page().text, /Passkeys work only at a service with a name/);
    } finally {
      await gateway.close();
    }
  }
});
