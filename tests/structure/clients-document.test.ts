import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clientsDocument } from '../clients/document.ts';
import { CLIENTS } from '../clients/clients.ts';
import { PYTHON_CLIENTS } from '../clients/python.ts';
import { SCENARIOS } from '../clients/scenarios.ts';
import { ROOT } from '../../tools/toolchain.ts';

test('docs/CLIENTS.md shows what the tests run', () => {
  const text = readFileSync(join(ROOT, 'docs', 'CLIENTS.md'), 'utf8');
  assert.equal(text, clientsDocument(), 'Generate it again: `node tools/clients-table.ts`.');
});

test('each listed difference of a client belongs to a scenario', () => {
  const names = SCENARIOS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { differs } of [...CLIENTS, ...PYTHON_CLIENTS]) {
    for (const name of Object.keys(differs)) assert.ok(names.includes(name), name);
  }
});
