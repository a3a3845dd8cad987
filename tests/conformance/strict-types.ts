// What we say on a wire, held against the types that its vendor has published.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { packageVersion, PYTHON } from '../clients/python.ts';

/** What can be said, each with the library that has the model of it. */
const LIBRARY = {
  chunk: 'openai',
  completion: 'openai',
  'event of Responses': 'openai',
  response: 'openai',
  'event of Messages': 'anthropic',
  message: 'anthropic',
  'error of Messages': 'anthropic',
} as const;

/** One thing that was said, with the name of the case for messages. */
export type Spoken = readonly [kind: keyof typeof LIBRARY, name: string, value: JsonObject];

const SCRIPT = new URL('../clients/python/check_types.py', import.meta.url).pathname;

/** Asserts that the strict models of the vendors' Python libraries take all of it. Skips the test if one is not installed. */
export function assertModelsTake(t: TestContext, spoken: readonly Spoken[]): void {
  assert.ok(spoken.length > 0);
  for (const library of new Set(spoken.map(([kind]) => LIBRARY[kind]))) {
    if (packageVersion(library) === undefined) return t.skip(`not run: \`pip install ${library}\` gets its models`);
  }
  const input = spoken.map((one) => JSON.stringify(one)).join('\n');
  const { status, stdout, stderr } = spawnSync(PYTHON, [SCRIPT], { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.equal(stdout, '');
}
