import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { send } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { setStage } from '../../support/stage.ts';

const { service } = await setStage();
const { url } = service;
const { token: key = '' } = await newOwner(service);
const nested = (levels: number): string => '['.repeat(levels - 1) + ']'.repeat(levels - 1);

/** Bodies that two programs read differently, or that the database cannot store; each with the field at fault. */
const BODIES: readonly (readonly [body: string | Uint8Array, param: string | null])[] = [
  ['{"name":"x","name":"y"}', 'name'],
  ['{"name":"x","redirectUris":[],"redirectUris":["https://evil.test"]}', 'redirectUris'],
  [String.raw`{"name":"x\u0000y"}`, 'name'],
  [String.raw`{"name":"\ud800"}`, 'name'],
  ['{"name":"x","__proto__":{"a":1}}', '__proto__'],
  ['{"name":"x","constructor":{"prototype":{}}}', 'constructor.prototype'],
  ['{"name":1e400}', 'name'],
  ['{"name":9007199254740993}', 'name'],
  [`{"name":${nested(32)}}`, 'name'],
  [`{"name":${nested(33)}}`, null],
  [`{"name":${nested(30_000)}}`, null],
  [Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]), null],
  [Buffer.from('{"name":"x"}', 'utf16le'), null],
  ['{"name":"x"', null],
  ['{"name":"x"}{}', null],
  ["{'name':'x'}", null],
  ['{"name":"x",}', null],
  ['["name"]', null],
  ['"name"', null],
  ['null', null],
  ['', null],
];

test('CP-15 an ambiguous body is a 400 and creates nothing', async () => {
  for (const [body, param] of BODIES) {
    const reply = await send('/apps', { url, key, body });
    assertRefusal(reply, { code: 'BAD_REQUEST', param }, String(body).slice(0, 80));
  }
  assert.deepEqual((await send('/apps', { url, key })).body, { apps: [] });
});

test('CC-06 a compressed body is refused before it is read', async () => {
  const body = gzipSync('{"name":"x"}');
  for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity, gzip', 'x']) {
    const reply = await send('/apps', { url, key, body, headers: { 'content-encoding': encoding } });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'content-encoding' }, encoding);
  }
  const plain = await send('/apps', { url, key, body: { name: 'x' }, headers: { 'content-encoding': 'identity' } });
  assert.equal(plain.status, 201, plain.text);
});

test('CC-06 a body that is not JSON by content type is a 400', async () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
  ];
  for (const type of [...types, 'text/json', 'application/jsonp', 'x', '']) {
    const reply = await send('/apps', { url, key, body: '{"name":"x"}', headers: { 'content-type': type } });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: null }, type);
    assert.match(String(reply.error['message']), /application\/json/);
  }
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset="UTF-8"']) {
    const reply = await send('/apps', { url, key, body: '{"name":"x"}', headers: { 'content-type': type } });
    assert.equal(reply.status, 201, type);
  }
});

test('CC-06 a body above the limit is a 413', async () => {
  const reply = await send('/apps', { url, key, body: `{"name":"${'x'.repeat(1_048_576)}"}` });
  assertRefusal(reply, { code: 'PAYLOAD_TOO_LARGE' });
});

test('CP-15 a content type without a body is accepted', async () => {
  const owner = await newOwner(service);
  const headers = { 'content-type': 'application/json' };
  const reply = await send('/sessions/current', { url, method: 'DELETE', key: owner.token ?? '', headers });
  assert.equal(reply.status, 204, reply.text);
});

test('CP-15 an address the database cannot store is no fault of ours', async () => {
  for (const path of ['/apps/%ff', '/apps/%', '/apps/%c0%80', '/nothing/%00']) {
    assertRefusal(await send(path, { url, key }), { code: 'NOT_FOUND' }, path);
  }
  for (const path of ['/apps/%00', '/apps/x%00y/keys']) {
    assertRefusal(await send(path, { url, key }), { code: 'BAD_REQUEST', param: 'appId' }, path);
  }
  assertRefusal(await send('/apps/%F0%9F%98%80', { url, key }), { code: 'NOT_FOUND' });
});
