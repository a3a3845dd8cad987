import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createChallenges } from '../../../packages/service/src/webauthn/challenge.ts';
import { createAuthenticator, type Oddity } from '../../support/authenticator.ts';
import { keysOf } from '../../support/keys.ts';
import { assertPage, openBrowser } from '../../support/page.ts';
import {
  addPasskey,
  optionsOf,
  passkeyOwner,
  passkeysOf,
  PASSKEYS_TITLE,
  SCRIPT,
  signInByPasskey,
} from '../../support/passkeys.ts';
import { browserOf, isSignedIn, PERSON_COOKIE } from '../../support/people.ts';
import { setStage } from '../../support/stage.ts';

/** What a passkey must not be, claim or sign. */

const SECRET = 'a secret of at least 32 characters';
const { service } = await setStage({ environment: { PURSER_SECRET: SECRET } });

let people = 0;
const newEmail = (): string => `person-${(people += 1)}@example.test`;

const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const ODDITIES: Readonly<Record<string, Oddity>> = {
  'another origin': { origin: 'https://evil.test' },
  'an origin that only begins like ours': { origin: 'https://purser.test.evil.test' },
  'our origin without TLS': { origin: 'http://purser.test' },
  'another host': { rpId: 'evil.test' },
  'no sign of a touch': { isPresent: false },
  'no sign of being unlocked': { isVerified: false },
  'a challenge that is not ours': { challenge: Buffer.alloc(52, 1).toString('base64url') },
  'no challenge': { challenge: '' },
};

for (const [what, oddity] of Object.entries(ODDITIES)) {
  test(`ON-01 a passkey with ${what} is not added, and signs nobody in`, async () => {
    const { authenticator } = await passkeyOwner(service);
    const fresh = openBrowser(service.url);
    assertPage(await signInByPasskey(fresh, authenticator, oddity), 400, 'Sign in');
    assert.equal(await isSignedIn(fresh), false);
    const email = newEmail();
    assertPage(
      await addPasskey(await browserOf(service, email), createAuthenticator(), oddity),
      400,
      PASSKEYS_TITLE,
      SCRIPT,
    );
    assert.equal(await passkeysOf(service, email), 0);
  });
}

test('ON-01 a signature by the wrong key, person or kind fails', async () => {
  const { authenticator } = await passkeyOwner(service);
  for (const oddity of [
    { signedBy: stranger },
    { userHandle: Buffer.from('idn_another').toString('base64url') },
    { type: 'webauthn.create' },
  ]) {
    const fresh = openBrowser(service.url);
    assertPage(await signInByPasskey(fresh, authenticator, oddity), 400, 'Sign in');
    assert.equal(await isSignedIn(fresh), false);
  }
  assertPage(await signInByPasskey(openBrowser(service.url), createAuthenticator()), 400, 'Sign in'); // An unknown key.
});

test('ON-01 an algorithm that was not offered is refused', async () => {
  const certificate = Buffer.from('a certificate that names an address to call');
  for (const oddity of [
    { type: 'webauthn.get' },
    { algorithm: -48 },
    { algorithm: -65_535 },
    { attestation: { fmt: 'none', statement: [['x', 1]] } },
    {
      attestation: {
        fmt: 'packed',
        statement: [
          ['alg', -7],
          ['sig', certificate],
          ['x5c', [certificate]],
        ],
      },
    },
    {
      attestation: {
        fmt: 'fido-u2f',
        statement: [
          ['sig', certificate],
          ['x5c', [certificate]],
        ],
      },
    },
    { attestation: { fmt: 'apple', statement: [['x5c', [certificate]]] } },
  ] as const) {
    const email = newEmail();
    assertPage(
      await addPasskey(await browserOf(service, email), createAuthenticator(), oddity),
      400,
      PASSKEYS_TITLE,
      SCRIPT,
    );
    assert.equal(await passkeysOf(service, email), 0, JSON.stringify(oddity));
  }
});

test('ON-01 a challenge is answered once, for its purpose and person', async () => {
  const { browser, authenticator } = await passkeyOwner(service);
  const fresh = openBrowser(service.url);
  const options = optionsOf(await fresh.open('/wallet/sign-in'));
  const credential = authenticator.get(options);
  const form = { ...fresh.fieldsOf('/wallet/passkeys/use'), credential };
  const cookies = new Map(fresh.cookies);
  assert.equal((await fresh.ask('/wallet/passkeys/use', { form })).status, 303);
  for (const [name, value] of cookies) fresh.cookies.set(name, value);
  fresh.cookies.delete(PERSON_COOKIE);
  assertPage(await fresh.ask('/wallet/passkeys/use', { form }), 400, 'Sign in');

  const toAdd = optionsOf(await browser.open('/wallet/passkeys'));
  const later = openBrowser(service.url);
  await later.open('/wallet/sign-in');
  const misused = authenticator.get({ ...options, challenge: toAdd.challenge });
  assertPage(await later.submit('/wallet/passkeys/use', { credential: misused }), 400, 'Sign in');
  const email = newEmail();
  const other = await browserOf(service, email);
  await other.open('/wallet/passkeys');
  const foreign = createAuthenticator().create(toAdd);
  assertPage(await other.submit('/wallet/passkeys', { credential: foreign }), 400, PASSKEYS_TITLE, SCRIPT);
  assert.equal(await passkeysOf(service, email), 0);

  const again = createAuthenticator().create(toAdd);
  assertPage(await browser.submit('/wallet/passkeys', { credential: again }), 200, PASSKEYS_TITLE, SCRIPT);
  const second = createAuthenticator().create(toAdd);
  assertPage(await browser.submit('/wallet/passkeys', { credential: second }), 400, PASSKEYS_TITLE, SCRIPT);
});

test('ON-01 a challenge lasts half an hour and tolerates no change', async () => {
  const keys = keysOf(SECRET).proof('passkey-challenge');
  const made = (minutesAgo: number): string =>
    createChallenges(keys, { nowMs: () => Date.now() - minutesAgo * 60_000 }).issue('sign-in');
  const { authenticator } = await passkeyOwner(service);
  const fresh = openBrowser(service.url);
  assertPage(await signInByPasskey(fresh, authenticator, { challenge: made(31) }), 400, 'Sign in');
  assert.equal(await isSignedIn(fresh), false);
  const challenges = createChallenges(keys, { nowMs: () => Date.now() });
  const whole = Buffer.from(made(0), 'base64url');
  assert.ok(challenges.read('sign-in', whole.toString('base64url')) !== undefined);
  assert.equal(challenges.read('add idn_x', whole.toString('base64url')), undefined);
  for (let bit = 0; bit < whole.length * 8; bit += 1) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(whole.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.equal(challenges.read('sign-in', flipped.toString('base64url')), undefined, String(bit));
  }
  assertPage(await signInByPasskey(fresh, authenticator, { challenge: made(29) }), 200, PASSKEYS_TITLE, SCRIPT);
});

test('ON-01 a counting passkey signs in only with a higher count', async () => {
  const { authenticator } = await passkeyOwner(service, createAuthenticator({ countsUses: true }));
  assertPage(await signInByPasskey(openBrowser(service.url), authenticator), 200, PASSKEYS_TITLE, SCRIPT);
  for (const signCount of [0, 1, 2]) {
    assertPage(await signInByPasskey(openBrowser(service.url), authenticator, { signCount }), 400, 'Sign in');
  }
  assertPage(
    await signInByPasskey(openBrowser(service.url), authenticator, { signCount: 100 }),
    200,
    PASSKEYS_TITLE,
    SCRIPT,
  );
  // Two uses of one count at once, each with its own challenge: one gets in.
  const browsers = [openBrowser(service.url), openBrowser(service.url), openBrowser(service.url)];
  const forms: Record<string, string>[] = [];
  for (const browser of browsers) {
    const options = optionsOf(await browser.open('/wallet/sign-in'));
    forms.push({
      ...browser.fieldsOf('/wallet/passkeys/use'),
      credential: authenticator.get(options, { signCount: 101 }),
    });
  }
  const replies = await Promise.all(
    browsers.map((browser, index) => browser.ask('/wallet/passkeys/use', { form: forms[index] ?? {} })),
  );
  assert.equal(replies.filter(({ status }) => status === 303).length, 1);
});

test('ON-01 malformed credentials are refused', async () => {
  const { browser, authenticator } = await passkeyOwner(service);
  const fresh = openBrowser(service.url);
  const id = authenticator.credentialId;
  for (const credential of [
    '',
    'x',
    'null',
    '1',
    '[]',
    '{}',
    '{"id":1}',
    '{"id":"a\\u0000"}',
    JSON.stringify({ id }),
    JSON.stringify({ id, rawId: id, type: 'public-key' }),
    JSON.stringify({ id, rawId: id, type: 'public-key', response: {} }),
    JSON.stringify({ id, rawId: id, type: 'public-key', response: { clientDataJSON: 'x', attestationObject: 'x' } }),
    '['.repeat(5_000),
  ]) {
    await fresh.open('/wallet/sign-in');
    assertPage(await fresh.submit('/wallet/passkeys/use', { credential }), 400, 'Sign in');
    await browser.open('/wallet/passkeys');
    assertPage(await browser.submit('/wallet/passkeys', { credential }), 400, PASSKEYS_TITLE, SCRIPT);
  }
});

/** A made-up key maker, valid until 2126, with an address for revocation checks. Its key is public. */
const MAKER = {
  key: createPrivateKey(`-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqXJCahtl3qGnaJzX
gkk1lweK60eaw9m6Y/TW52TafrWhRANCAASsqgea0Emwr1euQelvBXZZNdRh7FEq
p0jfUjpvNubhVYZxMhcagMtIov/AleaZEIIBZsmpWadMu23JpPacs1X9
-----END PRIVATE KEY-----`),
  certificate: Buffer.from(
    `-----BEGIN CERTIFICATE-----
MIICLzCCAdWgAwIBAgIUUtGrLfvw3JzUS2wnLvEZxXpQilkwCgYIKoZIzj0EAwIw
ZTELMAkGA1UEBhMCWFgxGDAWBgNVBAoMD0EgbWFrZXIgb2Yga2V5czEiMCAGA1UE
CwwZQXV0aGVudGljYXRvciBBdHRlc3RhdGlvbjEYMBYGA1UEAwwPQSBtYWtlciBv
ZiBrZXlzMCAXDTI2MTEyMTIyMTQxOVoYDzIxMjYxMDI4MjIxNDE5WjBlMQswCQYD
VQQGEwJYWDEYMBYGA1UECgwPQSBtYWtlciBvZiBrZXlzMSIwIAYDVQQLDBlBdXRo
ZW50aWNhdG9yIEF0dGVzdGF0aW9uMRgwFgYDVQQDDA9BIG1ha2VyIG9mIGtleXMw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASsqgea0Emwr1euQelvBXZZNdRh7FEq
p0jfUjpvNubhVYZxMhcagMtIov/AleaZEIIBZsmpWadMu23JpPacs1X9o2EwXzAM
BgNVHRMBAf8EAjAAMDAGA1UdHwQpMCcwJaAjoCGGH2h0dHA6Ly8xMjcuMC4wLjE6
MS9uZXZlci1jYWxsZWQwHQYDVR0OBBYEFEgtUUxmgVbY1fl/is6dYBnd3hybMAoG
CCqGSM49BAMCA0gAMEUCIQDFG4C+YYxq/nGgymc/kuHIgmXJzUWTDH2bKUNL4bCU
+AIgQWd4XW3eyL0O5P2NsfpafkHFcISBaQPM6xbCamWOiOk=
-----END CERTIFICATE-----`.replaceAll(/-----[^-]+-----|\n/g, ''),
    'base64',
  ),
};

test('ON-01 a maker’s statement is not read', async (t) => {
  const calls = t.mock.method(globalThis, 'fetch');
  const email = newEmail();
  const authenticator = createAuthenticator();
  const browser = await browserOf(service, email);
  const options = optionsOf(await browser.open('/wallet/passkeys'));
  const credential = authenticator.create(options, { maker: MAKER });
  assertPage(await browser.submit('/wallet/passkeys', { credential }), 400, PASSKEYS_TITLE, SCRIPT);
  assert.equal(await passkeysOf(service, email), 0);
  const called = calls.mock.calls.map(({ arguments: [url] }) => JSON.stringify(url));
  assert.ok(called.length > 0 && called.every((url) => !url.includes('never-called')), called.join());
});
