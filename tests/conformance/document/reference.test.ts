import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { httpSend, send } from '../../support/client.ts';
import { readDocument } from '../../support/document.ts';
import { setStage } from '../../support/stage.ts';

/** With its objects, and a sentence for most fields, an operation takes 4.4 KB. The page grows with the API and with nothing else. */
const BYTES_MAX_PER_OPERATION = 4_600;
const { service } = await setStage();
const { url } = service;
const { status, headers, text } = await send('/docs', { url });
const document = readDocument((await send('/openapi.json', { url })).text);

test('OP-16 the reference loads nothing, runs nothing and cannot be framed', () => {
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? '';
  const digest = createHash('sha256').update(style).digest('base64');
  assert.equal(
    headers.get('content-security-policy'),
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  assert.doesNotMatch(text, /<(script|img|link|iframe|object|embed)\b|@import|url\(| style=| on\w+=/i);
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  const bytes = Buffer.byteLength(text);
  assert.ok(bytes < operations.length * BYTES_MAX_PER_OPERATION, `${bytes} bytes for ${operations.length} operations`);
});

test('OP-16 the reference and document are compressed on request, unchanged', async () => {
  for (const path of ['/docs', '/openapi.json']) {
    const plain = await httpSend(url, { method: 'GET', path });
    assert.equal(plain.headers.get('content-encoding'), null);
    const bytes = Buffer.byteLength(plain.text);
    for (const coding of ['br', 'gzip'] as const) {
      const small = await httpSend(url, { method: 'GET', path, headers: { 'accept-encoding': coding } });
      assert.equal(small.headers.get('content-encoding'), coding);
      assert.equal(small.headers.get('vary'), 'accept-encoding');
      assert.ok(
        Number(small.headers.get('content-length')) < Math.min(bytes / 5, 64_000),
        small.headers.get('content-length') ?? '',
      );
      assert.equal((await send(path, { url, headers: { 'accept-encoding': coding } })).text, plain.text); // fetch decodes it.
    }
  }
});

test('OP-16 the reference has every operation and object, with working links', () => {
  const anchors = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(anchors).size, anchors.length);
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const { operationId } of operations) assert.ok(anchors.includes(operationId), operationId);
  for (const name of Object.keys(document.components.schemas)) assert.ok(anchors.includes(`schema-${name}`), name);
  const links = [...text.matchAll(/ href="([^"]+)"/g)].map(([, target]) => target ?? '');
  const lost = links.filter(
    (target) => !['/openapi.json', '/guides/app-developer'].includes(target) && !anchors.includes(target.slice(1)),
  );
  assert.deepEqual(lost, []);
});

test('OP-16 the reference is well formed', () => {
  const open: string[] = [];
  for (const [, slash, name = ''] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
    if (['meta', 'wbr'].includes(name)) continue;
    if (slash === '/') assert.equal(open.pop(), name);
    else open.push(name);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(text.replaceAll(/<[^>]+>/g, ''), /\[object |undefined|`/);
});

test('OP-16 a service loads none of the framework’s schema compilers', () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  assert.ok(loaded.some((file) => file.includes('/node_modules/fastify/')));
  assert.deepEqual(
    loaded.filter((file) => /\/@fastify\/(ajv|fast-json-stringify)-compiler\//.test(file)),
    [],
  );
});
