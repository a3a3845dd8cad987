import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { PARAMETERS } from '../../../packages/service/src/gateway/wires/responses/request/parameters.ts';
import { responsesRequestSchema } from '../../../packages/service/src/gateway/wires/responses/request/schema.ts';
import { Refusal } from '../../../packages/service/src/kernel/faults/refusal.ts';
import { anyResponsesBody } from '../../support/any-responses-body.ts';
import { readBody } from '../../support/read-responses.ts';
import { RESPONSES_TABLE } from '../../support/responses-parameter-table.ts';

/** What the documents say of a body of `POST /v1/responses` must match what the gateway accepts. */

const schema = responsesRequestSchema() as {
  readonly properties: Readonly<Record<string, object>>;
  readonly $defs: object;
};
const ajv = new Ajv2020({ strict: false });
const checkRequest = ajv.compile(schema);

const VALUES = RESPONSES_TABLE.flatMap(({ accepted, refused }) => [...accepted, ...refused.map(([value]) => value)])
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  .filter((value) => value !== null);

test('WI-04 the document has every parameter of the wire with its accepted values', () => {
  assert.deepEqual(Object.keys(schema.properties).toSorted(), ['input', 'model', ...PARAMETERS.keys()].toSorted());
  let taken = 0;
  for (const [name, { faultOf }] of PARAMETERS) {
    const check = ajv.compile({ ...schema.properties[name], $defs: schema.$defs });
    assert.equal(check(null), true, `${name}: null counts as absent`);
    if (name === 'tools' || name === 'tool_choice') continue; // They are read whole.
    for (const value of VALUES) {
      const isTaken = faultOf(value, name) === undefined;
      assert.equal(check(value), isTaken, `${name}: ${JSON.stringify(value)}`);
      taken += isTaken ? 1 : 0;
    }
  }
  assert.ok(taken > 200, String(taken));
});

test('WI-04 any body the gateway reads is valid by the document', () => {
  let read = 0;
  fc.assert(
    fc.property(anyResponsesBody, (fields) => {
      if (readBody(fields) instanceof Refusal) return;
      read += 1;
      assert.ok(checkRequest({ model: 'm', ...fields }), JSON.stringify(checkRequest.errors));
    }),
    { numRuns: 1_000 },
  );
  assert.ok(read > 100, String(read));
  assert.equal(checkRequest({ model: 'm', input: 'a', unheard_of: 1 }), false);
  assert.equal(checkRequest({ model: 'm' }), false);
});

test('WI-04 docs/PARAMETERS.md matches the table of the wire', () => {
  const document = readFileSync(new URL('../../../docs/PARAMETERS.md', import.meta.url), 'utf8');
  const [, part = ''] = /^## Parameters of `POST \/v1\/responses`$(.*?)^## /ms.exec(document) ?? [];
  const told = Array.from(part.matchAll(/^\| `(\w+)` \| (\w+) \|[^|]*\|$/gm), ([, name, kind]) => `${name}: ${kind}`);
  const expected = RESPONSES_TABLE.map(({ name, kind }) => `${name}: ${kind}`);
  assert.deepEqual(told.toSorted(), [...expected, 'input: forwarded', 'model: decided'].toSorted());
});
