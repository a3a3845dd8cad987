import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { readRequest } from '../../../packages/service/src/gateway/wires/embeddings/read.ts';
import { embeddingsRequestSchema } from '../../../packages/service/src/gateway/wires/embeddings/request-schema.ts';
import { Refusal } from '../../../packages/service/src/kernel/faults/refusal.ts';

/** What the documents say of a body of `POST /v1/embeddings` must match what the gateway accepts. */

const checkRequest = new Ajv2020({ strict: false }).compile(embeddingsRequestSchema());

/** Mostly the first, so that many bodies are read. */
const mostly = <T>(right: fc.Arbitrary<T>, ...wrong: readonly unknown[]) =>
  fc.oneof({ weight: 20, arbitrary: right }, fc.constantFrom(...wrong));
const text = mostly(fc.constantFrom('a', '\u0000', '北京'), '');
const token = mostly(fc.constantFrom(0, 7, 2 ** 31 - 1), -1, 1.5, 2 ** 31, 1e300, '1', null, [1]);
const tokens = fc.array(token, { maxLength: 3 });
const input = fc.oneof(
  text,
  tokens,
  fc.array(text, { maxLength: 3 }),
  fc.array(tokens, { maxLength: 3 }),
  fc.array(fc.oneof(text, token, tokens), { maxLength: 3 }),
  fc.constantFrom(2_048, 2_049).map((length) => Array.from({ length }, () => 'a')),
  fc.anything(),
);
const anyBody = fc.record(
  {
    input,
    dimensions: mostly(fc.constantFrom(1, 65_536, null), 65_537, 0, 1.5, '8'),
    encoding_format: mostly(fc.constantFrom('float', 'base64', null), 'int8', 1),
    user: mostly(fc.constantFrom('a', null), 'a'.repeat(257), 1),
    stream: fc.constantFrom(true, false, null),
  },
  { requiredKeys: ['input'] },
);

test('WI-11 a body is read exactly if the document takes it', () => {
  let read = 0;
  fc.assert(
    fc.property(anyBody, (fields) => {
      const body = JSON.parse(JSON.stringify({ model: 'm', ...fields })) as Readonly<Record<string, unknown>>;
      const isRead = !(readRequest(body) instanceof Refusal);
      assert.equal(checkRequest(body), isRead, JSON.stringify(body));
      read += isRead ? 1 : 0;
    }),
    { numRuns: 2_000 },
  );
  assert.ok(read > 100, String(read));
});

test('WI-11 docs/PARAMETERS.md has every parameter of the wire', () => {
  const document = readFileSync(new URL('../../../docs/PARAMETERS.md', import.meta.url), 'utf8');
  const [, part = ''] = /^## Parameters of `POST \/v1\/embeddings`$(.*?)^## /ms.exec(document) ?? [];
  const told = Array.from(part.matchAll(/^\| `(\w+)` \| [\w, ]+ \|[^|]*\|$/gm), ([, name]) => String(name));
  const { properties } = embeddingsRequestSchema() as { readonly properties: object };
  assert.deepEqual(told.toSorted(), Object.keys(properties).toSorted());
});
