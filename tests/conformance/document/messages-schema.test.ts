import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { PARAMETERS } from '../../../packages/service/src/gateway/wires/messages/request/parameters.ts';
import {
  COUNT_SCHEMA,
  messagesRequestSchema,
} from '../../../packages/service/src/gateway/wires/messages/request/schema.ts';
import { Refusal } from '../../../packages/service/src/kernel/faults/refusal.ts';
import { anyMessagesBody } from '../../support/any-messages-body.ts';
import { MESSAGES_TABLE } from '../../support/messages-parameter-table.ts';
import { readBody } from '../../support/read-messages.ts';

/** What the documents say of a body of `POST /v1/messages` must match what the gateway accepts. */

const schema = messagesRequestSchema() as {
  readonly properties: Readonly<Record<string, object>>;
  readonly $defs: object;
};
const ajv = new Ajv2020({ strict: false });
const checkRequest = ajv.compile(schema);
const checkCount = ajv.compile(COUNT_SCHEMA);

const VALUES = MESSAGES_TABLE.flatMap(({ accepted, refused }) => [...accepted, ...refused.map(([value]) => value)])
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  .filter((value) => value !== null);
/** They are read whole. */
const READ_WHOLE = new Set(['system', 'tools', 'tool_choice']);

test('WI-08 the document has every parameter of the wire with its accepted values', () => {
  assert.deepEqual(Object.keys(schema.properties).toSorted(), ['messages', 'model', ...PARAMETERS.keys()].toSorted());
  let taken = 0;
  for (const [name, { faultOf }] of PARAMETERS) {
    const check = ajv.compile({ ...schema.properties[name], $defs: schema.$defs });
    if (name !== 'max_tokens') assert.equal(check(null), true, `${name}: null counts as absent`);
    if (READ_WHOLE.has(name)) continue;
    for (const value of VALUES) {
      const isTaken = faultOf(value, name) === undefined;
      assert.equal(check(value), isTaken, `${name}: ${JSON.stringify(value)}`);
      taken += isTaken ? 1 : 0;
    }
  }
  assert.ok(taken > 200, String(taken));
});

test('WI-08 any body the gateway reads is valid by the document', () => {
  let read = 0;
  fc.assert(
    fc.property(anyMessagesBody, (fields) => {
      if (readBody(fields) instanceof Refusal) return;
      read += 1;
      assert.ok(checkRequest({ model: 'm', ...fields }), JSON.stringify(checkRequest.errors));
    }),
    { numRuns: 1_000 },
  );
  assert.ok(read > 100, String(read));
  const hello = { model: 'm', max_tokens: 7, messages: [{ role: 'user', content: 'a' }] };
  assert.deepEqual([checkRequest(hello), checkRequest({ ...hello, unheard_of: 1 })], [true, false]);
  const { max_tokens: _limit, ...counted } = hello;
  assert.deepEqual([checkRequest(counted), checkCount(counted)], [false, true]);
});

test('WI-08 docs/PARAMETERS.md matches the table of the wire', () => {
  const document = readFileSync(new URL('../../../docs/PARAMETERS.md', import.meta.url), 'utf8');
  const [, part = ''] = /^## Parameters of `POST \/v1\/messages`$(.*?)^## /ms.exec(document) ?? [];
  const told = Array.from(part.matchAll(/^\| `(\w+)` \| (\w+) \|[^|]*\|$/gm), ([, name, kind]) => `${name}: ${kind}`);
  const expected = MESSAGES_TABLE.map(({ name, kind }) => `${name}: ${kind}`);
  assert.deepEqual(told.toSorted(), [...expected, 'messages: forwarded', 'model: decided'].toSorted());
});
