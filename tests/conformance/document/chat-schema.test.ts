import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { chatRequestSchema } from '../../../packages/service/src/gateway/parameters/chat-schema.ts';
import { findMessageFault } from '../../../packages/service/src/gateway/parameters/messages.ts';
import { NAMED_PARAMETERS, PARAMETERS } from '../../../packages/service/src/gateway/parameters/parameters.ts';
import { VENDOR_PARAMETERS } from '../../../packages/service/src/gateway/parameters/vendor.ts';
import { anyRequest } from '../../support/any-request.ts';
import { PARAMETER_TABLE } from '../../support/parameter-table.ts';
import { VENDOR_TABLE } from '../../support/vendor-parameter-table.ts';

/** The document’s description of a chat request must match what the gateway accepts. */

const RUNS = 2_000;
const schema = chatRequestSchema() as { readonly properties: Readonly<Record<string, object>>; readonly $defs: object };
const ajv = new Ajv2020({ strict: false });
const checkRequest = ajv.compile(schema);
const checkMessages = ajv.compile({ ...schema.properties['messages'], $defs: schema.$defs });

/** The values are as they arrive, without values that JSON cannot express. */
const VALUES = [...PARAMETER_TABLE, ...VENDOR_TABLE]
  .flatMap(({ accepted, refused }) => [...accepted, ...refused.map(([value]) => value)])
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  .filter((value) => value !== null);

test('CC-03 the document has every known parameter with its accepted values', () => {
  assert.deepEqual(Object.keys(schema.properties).toSorted(), [...NAMED_PARAMETERS].toSorted());
  assert.ok(VALUES.length > 200, String(VALUES.length));
  let taken = 0;
  for (const [name, { faultOf }] of [...PARAMETERS, ...VENDOR_PARAMETERS]) {
    const check = ajv.compile(schema.properties[name] ?? false);
    for (const value of VALUES) {
      const isTaken = faultOf(value, name) === undefined;
      assert.equal(check(value), isTaken, `${name}: ${JSON.stringify(value)}`);
      taken += isTaken ? 1 : 0;
    }
    assert.equal(check(null), true, `${name}: null counts as absent`);
  }
  assert.ok(taken > 300, String(taken));
});

test('CC-13 any request the gateway accepts is valid by the document', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const body: unknown = JSON.parse(JSON.stringify({ model: 'm', ...request }));
      assert.ok(checkRequest(body), JSON.stringify(checkRequest.errors));
    }),
    { numRuns: RUNS / 10 },
  );
  assert.equal(checkRequest({ model: 'm', messages: [{ role: 'user', content: 'a' }], unheard_of: 1 }), false);
  assert.equal(checkRequest({ messages: [{ role: 'user', content: 'a' }] }), false);
});

const mostly = <Value>(right: fc.Arbitrary<Value>, ...wrong: readonly unknown[]) =>
  fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });
const text = mostly(fc.constant('a'), null, 1);
const textOrNull = mostly(fc.constantFrom('a', null), 1);

const image = fc.record({
  url: mostly(fc.constantFrom('https://a.test', 'HTTP://a', 'data:image/png;base64,AA'), 'data:text/html,a', 'ftp://a'),
  detail: textOrNull,
});
const called = fc.record({ name: text, arguments: text });
const part = fc.record(
  {
    type: mostly(fc.constantFrom('text', 'refusal', 'image_url'), 'input_audio', 1),
    text,
    refusal: text,
    image_url: mostly(image, 'https://a.test'),
  },
  { requiredKeys: ['type', 'text', 'refusal'] },
);
const toolCall = fc.record({ id: text, type: mostly(fc.constant('function'), 'custom'), function: called });
/** The messages are mostly valid, and wrong in a place or two. */
const message = fc.record(
  {
    role: mostly(fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function'), 'User'),
    content: mostly(fc.oneof(fc.constant('a'), fc.array(part, { minLength: 1, maxLength: 2 })), null, 7, []),
    name: textOrNull,
    refusal: textOrNull,
    audio: mostly(fc.constant(null), { id: 'a' }),
    tool_call_id: text,
    tool_calls: mostly(fc.oneof(fc.constant(null), fc.array(toolCall, { maxLength: 2 })), {}),
    function_call: mostly(fc.oneof(fc.constant(null), called), 'a'),
  },
  { requiredKeys: ['role', 'content'] },
);

test('CC-13 a message is valid exactly if the gateway accepts it', () => {
  const seen = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(fc.array(message, { maxLength: 2 }), (messages) => {
      const isTaken = findMessageFault(messages) === undefined;
      seen[isTaken ? 'taken' : 'refused'] += 1;
      assert.equal(checkMessages(messages), isTaken, JSON.stringify(messages));
    }),
    { numRuns: RUNS },
  );
  assert.ok(seen.taken > RUNS / 20 && seen.refused > RUNS / 20, JSON.stringify(seen));
});
