import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../support/client.ts';
import { setConnectStage } from '../support/connect-stage.ts';
import { assertRefusal } from '../support/refusal.ts';

const stage = await setConnectStage();
const { service, newConnectApp, everything } = stage;
const app = await newConnectApp('Notes', ['https://a.com/back', 'http://localhost:3000/cb?x=1', 'https://A.com/Back']);
const LINK = /^https:\/\/purser\.test\/connect\/[A-Za-z0-9_-]{60,}$/;

test('BI-02 BI-04 a connect link lasts fifteen minutes and writes nothing', async () => {
  await app.ask('anna'); // By now the bucket exists, and the key has been used.
  const before = await everything();
  for (const redirectUri of ['https://a.com/back', 'http://localhost:3000/cb?x=1', 'https://A.com/Back']) {
    const reply = await app.ask('anna', { redirectUri });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(Object.keys(reply.body), ['connectUrl', 'expiresAt']);
    assert.match(String(reply.body['connectUrl']), LINK);
    assert.match(String(reply.body['expiresAt']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
    const lasts = Date.parse(String(reply.body['expiresAt'])) - Date.now();
    assert.ok(lasts > 13 * 60_000 && lasts <= 15 * 60_000, String(lasts));
    assert.equal(reply.headers.get('x-service-mode'), null);
    assert.match(reply.headers.get('ratelimit') ?? '', /r=\d+/);
  }
  assert.notEqual((await app.ask('anna')).body['connectUrl'], (await app.ask('anna')).body['connectUrl']);
  assert.equal(await everything(), before);
});

test('BI-02 a link does not reveal what it contains', async () => {
  const { body } = await app.ask('anna', { state: 'the-state', userLabel: 'The Label' });
  const token = String(body['connectUrl']).split('/').at(-1) ?? '';
  const shown = token + Buffer.from(token, 'base64url').toString('latin1');
  for (const word of ['anna', 'a.com', 'the-state', 'Label', app.appId]) assert.ok(!shown.includes(word), word);
});

/** Each is close to `https://a.com/back` without being it (BI-02). */
const TRICKS: readonly unknown[] = [
  'https://a.com.evil.com/back',
  'https://a.com@evil.com/back',
  'https://evil.com@a.com/back',
  'https://evil.com/https://a.com/back',
  'https://evil.com/?https://a.com/back',
  'https://evil.com#https://a.com/back',
  '//evil.com/back',
  '//a.com/back',
  '/back',
  'back',
  '',
  ' ',
  'a.com/back',
  'http://a.com/back',
  'HTTPS://a.com/back',
  'https://A.COM/back',
  'https://a.com/Back',
  'https://a.com/BACK',
  'https:/a.com/back',
  'https:a.com/back',
  'https:///a.com/back',
  'https:\\\\a.com\\back',
  'https://a.com\\back',
  'https://a.com/\\back',
  'https://a.com\\@evil.com/back',
  'https://evil.com\\.a.com/back',
  'https://a.com/back/',
  'https://a.com/back/.',
  'https://a.com/./back',
  'https://a.com/x/../back',
  'https://a.com//back',
  'https://a.com/%62ack',
  'https://a.com/b%61ck',
  'https://a.com/back%2f',
  'https://a.com/%2e/back',
  'https://a%2ecom/back',
  'https://a.com./back',
  'https://a.com:443/back',
  'https://a.com:0443/back',
  'https://a.com:/back',
  'https://a.com:444/back',
  'https://a.com/back#',
  'https://a.com/back#x',
  'https://a.com/back?',
  'https://a.com/back?x=1',
  'https://a.com/back&x=1',
  'https://a.com/back;x',
  'https://a.com/back ',
  ' https://a.com/back',
  '\thttps://a.com/back',
  'https://a.com/back\n',
  'https://a.com/ba\tck',
  'https://a.com/back\u200b',
  'https://a\u3002com/back',
  'https://\uff41.com/back',
  'https://xn--a-7sb.com/back',
  'https://\u0430.com/back',
  'https://a.com/back\u202e',
  'https://user:pass@a.com/back',
  'https://www.a.com/back',
  'https://127.0.0.1/back',
  'http://127.0.0.1:3000/cb?x=1',
  'http://localhost:3001/cb?x=1',
  'http://localhost:3000/cb?x=1&y=2',
  'http://localhost:3000/cb',
  'http://localhost:3000/cb?x=2',
  'javascript:alert(1)//https://a.com/back',
  'data:text/html,https://a.com/back',
  'blob:https://a.com/back',
  'file:///back',
  'about:blank',
  'myapp://a.com/back',
  `https://a.com/back${'a'.repeat(100_000)}`,
  'https://a.com/back,https://evil.com',
  'https://a.com/back https://evil.com',
  'https://a.com/back\r\nlocation: https://evil.com',
  'null',
  '*',
  'https://*.com/back',
];

/** These values are not even strings. */
const NO_TEXT: readonly unknown[] = [
  null,
  true,
  1,
  ['https://a.com/back'],
  ['https://a.com/back', 'https://evil.com'],
  { href: 'https://a.com/back' },
  [],
  {},
];

test('BI-02 misleading return addresses are refused without being repeated', async () => {
  assert.ok(TRICKS.length >= 60, String(TRICKS.length));
  const said = new Set<string>();
  for (const redirectUri of [...TRICKS, ...NO_TEXT]) {
    const reply = await app.ask('anna', { redirectUri });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'redirectUri', hasLink: false }, JSON.stringify(redirectUri));
    const text = String(reply.error['message']);
    assert.doesNotMatch(text, /a\.com|evil|localhost|back|alert/);
    if (typeof redirectUri === 'string') said.add(text);
  }
  assert.equal(said.size, 1);
});

test('BI-02 the return address is read only from its body field', async () => {
  const call = { url: service.url, key: app.liveKey, user: 'anna' };
  const query = `?redirectUri=${encodeURIComponent(app.redirectUri)}`;
  for (const body of [{}, { redirect_uri: app.redirectUri }, { redirecturi: app.redirectUri }]) {
    const reply = await send(`/connect${query}`, { ...call, body });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'redirectUri' });
  }
  const reply = await app.ask('anna', { appId: app.appId });
  assertRefusal(reply, { code: 'BAD_REQUEST', param: 'appId' });
  assert.match(String(reply.error['message']), /`appId`: is not accepted here\. Accepted: `redirectUri`, /);
  for (const body of ['', 'null', '[]', '"x"', '{', '{}x', `{"redirectUri":"${app.redirectUri}",}`]) {
    assertRefusal(await send('/connect', { ...call, body }), { code: 'BAD_REQUEST' }, body);
  }
  const twice = `{"redirectUri":"https://evil.com","redirectUri":"${app.redirectUri}"}`;
  assertRefusal(await send('/connect', { ...call, body: twice }), { code: 'BAD_REQUEST', param: 'redirectUri' });
  assert.equal((await send('/connect', { url: service.url, key: app.liveKey, user: 'anna' })).status, 405);
});

test('BI-02 a state and label may have the maximum length, but not mislead', async () => {
  for (const fields of [
    { state: '' },
    { state: 's'.repeat(512) },
    { state: '\u8a9e'.repeat(512) },
    { state: `{"a":"\u{1f600}","b":"<>&\\""} \u200f` },
    { userLabel: 'x' },
    { userLabel: '\u8a9e'.repeat(80) },
    { userLabel: ' \u05d0\u05e0\u05d4 <b>"&\' ' },
    { userLabel: '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u{1f469}\u200d\u{1f467}' },
  ]) {
    assert.equal((await app.ask('"'.repeat(256), fields)).status, 200, JSON.stringify(fields));
  }
  const refused: readonly (readonly [string, unknown])[] = [
    ['state', 's'.repeat(513)],
    ['state', 'a\u0000b'],
    ['state', 'a\nb'],
    ['state', 'a\u0085b'],
    ['state', '\ud800'],
    ['state', null],
    ['state', 5],
    ['userLabel', ''],
    ['userLabel', ' \u3000 '],
    ['userLabel', 'x'.repeat(81)],
    ['userLabel', 'a\nb'],
    ['userLabel', 'a\u001bb'],
    ['userLabel', 'moc.evil\u202e'],
    ['userLabel', '\u2066x'],
    ['userLabel', 'a\u2028b'],
    ['userLabel', '\u200b\u2060'],
    ['userLabel', '\u3164\u2800'],
    ['userLabel', '\udc00'],
    ['userLabel', ['x']],
  ];
  for (const [field, value] of refused) {
    const reply = await app.ask('anna', { [field]: value });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: field }, JSON.stringify(value));
  }
});

test('BI-02 the app’s current allow-list applies', async () => {
  const other = await newConnectApp('Other', ['https://other.test/']);
  const redirectUri = 'https://a.com/new';
  assertRefusal(await app.ask('anna', { redirectUri }), { code: 'BAD_REQUEST', param: 'redirectUri' });
  await app.change({ redirectUris: ['https://a.com/back', redirectUri] });
  assert.equal((await app.ask('anna', { redirectUri })).status, 200);
  assertRefusal(await other.ask('anna', { redirectUri }), { code: 'BAD_REQUEST', param: 'redirectUri' });
  await app.change({ redirectUris: ['https://a.com/back', 'http://localhost:3000/cb?x=1', 'https://A.com/Back'] });
  assertRefusal(await app.ask('anna', { redirectUri }), { code: 'BAD_REQUEST', param: 'redirectUri' });
  const none = await newConnectApp('None', []);
  assertRefusal(await none.ask('anna', { redirectUri: '' }), { code: 'BAD_REQUEST', param: 'redirectUri' });
});

test('SB-09 a test key gets the same checks and a tokenless link', async () => {
  const reply = await app.ask('anna', { state: 's', userLabel: 'l' }, app.testKey);
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.body['connectUrl'], 'https://purser.test/connect/sandbox');
  assert.deepEqual(Object.keys(reply.body), ['connectUrl', 'expiresAt']);
  assert.equal(reply.headers.get('x-service-mode'), null);
  for (const fields of [{ redirectUri: 'https://evil.com' }, { state: 's'.repeat(513) }, { more: 1 }]) {
    const [live, sandbox] = await Promise.all([app.ask('anna', fields), app.ask('anna', fields, app.testKey)]);
    assert.equal(sandbox.status, 400);
    assert.equal(sandbox.error['message'], live.error['message']);
    assert.equal(sandbox.error['param'], live.error['param']);
  }
});

test('CC-10 the user is checked first, then body depth, then contents', async () => {
  const body = { redirectUri: 'https://evil.com' };
  const noUser = await send('/connect', { url: service.url, key: app.liveKey, body });
  assertRefusal(noUser, { code: 'BAD_REQUEST', param: 'x-service-user' });
  const deep = `{"redirectUri":${'['.repeat(32)}${']'.repeat(32)}}`;
  const reply = await send('/connect', { url: service.url, key: app.liveKey, user: 'anna', body: deep });
  assertRefusal(reply, { code: 'BAD_REQUEST', param: null });
  assert.match(String(reply.error['message']), /deeper than 32 levels/);
});
