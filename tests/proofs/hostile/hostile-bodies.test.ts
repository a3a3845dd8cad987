import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { COMPLETIONS, httpSend, type Reply } from '../../support/client.ts';
import { openRaw, parseRaw } from '../../support/raw-http.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';

const PLENTY = 1_000_000_000;

const { upstream, service, app, newUser } = await setStage();
upstream.script({
  body: completionBody({ model: 'm', content: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1 } }),
});
const user = await newUser(PLENTY);

function post(body: string | Buffer, more: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const headers = { authorization: `Bearer ${app.liveKey}`, 'x-service-user': user, ...more };
  return httpSend(service.url, { method: 'POST', path: COMPLETIONS, headers, body });
}

const MESSAGES = '"messages":[{"role":"user","content":"Hello"}]';

/** A valid request with extra members, as JSON text. */
function asking(members: string): string {
  return `{"model":"large",${MESSAGES},${members}}`;
}

function schema(text: string): string {
  return asking(`"tools":[{"type":"function","function":{"name":"f","parameters":${text}}}]`);
}

const SCHEMA = 'tools[0].function.parameters';

async function refused(body: string | Buffer, param: string | null): Promise<void> {
  const { length } = upstream.requests;
  const { balance } = await service.wallet(app, user);
  const shown = body.toString('latin1').slice(0, 200);
  assertRefusal(await post(body), { code: 'BAD_REQUEST', param, hasLink: false }, shown);
  assert.equal(upstream.requests.length, length, shown);
  assert.deepEqual(await service.wallet(app, user), { balance, held: 0, openStreams: 0 });
}

const ODD_NUMBERS = [
  '1e400',
  '-1e400',
  '1.5',
  '-1',
  '9007199254740993',
  '"1"',
  'true',
  '[1]',
  '{}',
  '1e-400',
  '-0',
  '0',
];
const WHOLE = ['max_tokens', 'max_completion_tokens', 'n'];

for (const number of ODD_NUMBERS) {
  test(`CC-07 ${number} is not a valid number of tokens or choices`, async () => {
    for (const name of WHOLE) await refused(asking(`"${name}":${number}`), name);
  });
}

test('CC-07 a number beyond a double is refused', async () => {
  for (const number of ['1e400', '-1E+309', '9'.repeat(310), '1e309']) {
    await refused(schema(`{"maximum":${number}}`), `${SCHEMA}.maximum`);
    await refused(schema(`{"enum":[[[1,${number}]]]}`), `${SCHEMA}.enum[0][0][1]`);
  }
  const reply = await post(schema('{"maximum":1e308,"minimum":-0,"multipleOf":5e-324}'));
  assert.equal(reply.status, 200, reply.text);
});

const POLLUTING = ['{"isAdmin":true}', '[]', 'null', '1'];

test('CC-03 a parameter named like an object’s property is refused', async () => {
  for (const value of POLLUTING) {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '\\u005f_proto__']) {
      await refused(asking(`"${name}":${value}`), name.replace('\\u005f', '_'));
    }
  }
  await refused(asking('"constructor":{"prototype":{"isAdmin":true}}'), 'constructor.prototype');
  assert.equal('isAdmin' in {}, false);
});

test('CC-07 a prototype path inside a schema is refused', async () => {
  await refused(schema('{"properties":{"__proto__":{"isAdmin":true}}}'), `${SCHEMA}.properties.__proto__`);
  await refused(schema('{"constructor":{"prototype":{}}}'), `${SCHEMA}.constructor.prototype`);
});

test('CC-13 any other such name inside a schema passes unchanged', async () => {
  for (const name of ['constructor', 'prototype', 'toString', 'then', 'toJSON']) {
    const text = `{"properties":{"${name}":{"isAdmin":true}}}`;
    const reply = await post(schema(text));
    assert.equal(reply.status, 200, reply.text);
    assert.ok(upstream.requests.at(-1)?.rawBody.includes(`"parameters":${text}`), name);
  }
  assert.equal('isAdmin' in {}, false);
});

test('CC-20 a duplicate name is refused by that name', async () => {
  await refused(`{"model":"large","model":"large",${MESSAGES}}`, 'model');
  await refused(`{"model":"nothing","\\u006dodel":"large",${MESSAGES}}`, 'model');
  await refused(asking('"max_tokens":900,"max_tokens":20'), 'max_tokens');
  await refused(schema('{"properties":{"a":{"type":"string","type":"number"}}}'), `${SCHEMA}.properties.a.type`);
});

/** Bytes that are not UTF-8: overlong forms, surrogate halves, beyond the last character, torn and lone ones. */
const NO_UTF8 = [
  ['80', 'bf', 'c0', 'c0af', 'c080', 'c1bf', 'c2', 'e0808a', 'e09fbf', 'e282', 'eda080', 'edbfbf', 'eda080edb080'],
  ['f0808080', 'f08fbfbf', 'f09f98', 'f4908080', 'f5808080', 'f8888080', 'fc8080808080', 'fe', 'ff', 'fffe', 'c328'],
].flat();

for (const hex of NO_UTF8) {
  test(`CC-07 the bytes ${hex} are not UTF-8 anywhere`, async () => {
    const bytes = Buffer.from(hex, 'hex');
    const around = (before: string, after: string) => Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
    await refused(around('{"model":"large","messages":[{"role":"user","content":"a', 'b"}]}'), null);
    await refused(around('{"model":"large","', `":1,${MESSAGES}}`), null);
    await refused(around(`{"model":"large",${MESSAGES}}`, ''), null);
  });
}

test('CC-07 an escaped surrogate half is passed on unchanged', async () => {
  const reply = await post(`{"model":"large","messages":[{"role":"user","content":"a\\ud800b\\udc00"}]}`);
  assert.equal(reply.status, 200, reply.text);
  assert.ok(upstream.requests.at(-1)?.rawBody.includes('a\\ud800b\\udc00'));
});

test('CC-07 depth counts only brackets that the parser sees', async () => {
  for (const levels of [31, 32, 33]) {
    const inner = '['.repeat(levels - 4) + ']'.repeat(levels - 4); // The schema sits on level 5.
    const isDeep = levels > 32;
    for (const text of [
      `{"a":${inner.slice(1, -1)}}`,
      `{"]}":${inner.slice(1, -1)}}`,
      `{"\\"]":${inner.slice(1, -1)}}`,
    ]) {
      const reply = await post(schema(text));
      assert.equal(reply.status, isDeep ? 400 : 200, `${levels} ${reply.text}`);
    }
  }
  const hidden = [
    `"${'['.repeat(40)}"`,
    `"\\"${'['.repeat(40)}"`,
    `"\\\\\\"${'{'.repeat(40)}"`,
    `"\\u0022${'['.repeat(40)}"`,
  ];
  for (const text of hidden) assert.equal((await post(schema(`{"description":${text}}`))).status, 200, text);
  for (const open of ['['.repeat(33), '{"a":'.repeat(33), '[{"a":'.repeat(17), '['.repeat(500_000)]) {
    await refused(`{"a":${open}`, null);
  }
});

test('CC-06 an encoded body of any size is refused unread', async () => {
  const bomb = Buffer.alloc(100 * 1024 * 1024);
  const bodies = {
    gzip: gzipSync(bomb),
    deflate: deflateSync(bomb),
    br: brotliCompressSync(bomb.subarray(0, 1e7)),
    zstd: zstdCompressSync(bomb),
  };
  const { length } = upstream.requests;
  for (const [encoding, body] of Object.entries(bodies)) {
    for (const header of [
      encoding,
      encoding.toUpperCase(),
      `${encoding}, ${encoding}`,
      `identity, ${encoding}`,
      `x-${encoding}`,
    ]) {
      const reply = await post(body, { 'content-encoding': header });
      assertRefusal(reply, { code: 'BAD_REQUEST', param: 'content-encoding' }, header);
    }
  }
  assert.equal(upstream.requests.length, length);
});

test('CC-06 CC-08 an incomplete body is not carried out', async () => {
  const { length } = upstream.requests;
  const good = `{"model":"large",${MESSAGES}}`;
  const head = `POST ${COMPLETIONS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.liveKey}\r\nx-service-user: ${user}\r\n`;
  const short = openRaw(service.url);
  short.write(`${head}content-length: ${good.length + 1}\r\n\r\n${good}`);
  await short.until(() => true);
  short.close();
  const long = openRaw(service.url);
  long.write(`${head}content-length: ${good.length - 1}\r\n\r\n${good}`);
  assert.equal(parseRaw(await long.closed).status, 400);
  assert.equal(upstream.requests.length, length);
  assert.equal((await service.wallet(app, user)).held, 0);
});

test('CC-06 a caller who sends `expect: 100-continue` gets it', async () => {
  const good = `{"model":"large",${MESSAGES}}`;
  const head = `POST ${COMPLETIONS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.liveKey}\r\nx-service-user: ${user}\r\nexpect: 100-continue\r\n`;
  const fit = openRaw(service.url);
  fit.write(`${head}content-length: ${good.length}\r\nconnection: close\r\n\r\n`);
  await fit.until((text) => text.includes('100 Continue'));
  fit.write(good);
  assert.match(await fit.closed, /HTTP\/1\.1 200/);
  const unfit = openRaw(service.url);
  unfit.write(`${head}content-length: 1048577\r\n\r\n`);
  assert.match(await unfit.closed, /HTTP\/1\.1 413/);
});

test('ER-03 text repeated in a message has no control characters', async () => {
  const odd = 'a\n\u001b[31m\u2028\u202e\u0000\ud800b';
  for (const body of [{ model: odd, messages: [] }, { model: odd }, { model: 'large', [odd]: 1 }]) {
    const reply = await post(JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], ...body }));
    assertRefusal(reply, { code: 'BAD_REQUEST' });
    assert.doesNotMatch(JSON.stringify(reply.error), /[\u2028\u202e]|\\[nud]/, reply.text);
  }
});
