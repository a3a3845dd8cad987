import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ACT_TEXTS } from '../../packages/service/src/web/console/team/texts.ts';
import { ROOT } from '../../tools/toolchain.ts';

/** Names that look like acts and are a file, an event, a failpoint and names of tables and types. */
const OTHERS = ['catalogue.json', 'payment.paid', 'provider.stream', 'reconciliation.reports', 'sandbox.settlement'];
const ACT =
  /['`]((?:account|alias|app|catalogue|identity|key|model|payment|pending|playground|provider|reconciliation|sandbox|team|wallet|webhook)\.[a-z_.-]+)['`]/g;

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(ACT)].map(([, name = '']) => name).filter((name) => !/\.(ts|sql|md)$/.test(name));
}

const service = path.join(ROOT, 'packages/service/src');
const files = globSync('**/*.ts', { cwd: service }).filter(
  (file) => !file.startsWith('web/') && !file.endsWith('.test.ts'),
);
const written = [...new Set(files.flatMap((file) => namesIn(readFileSync(path.join(service, file), 'utf8'))))]
  .filter((name) => !OTHERS.includes(name))
  .toSorted();

test('CP-09 the audit README lists exactly the recorded acts', () => {
  const readme = readFileSync(path.join(service, 'audit/README.md'), 'utf8');
  // These two are put together from a role.
  const made = ['account.make-operator', 'account.make-owner'];
  assert.deepEqual([...new Set(namesIn(readme))].filter((name) => !made.includes(name)).toSorted(), written);
});

test('CP-09 the activity page words every member act', () => {
  const ofMembers = written.filter((name) => /^(key|team|webhook|sandbox|playground)\./.test(name));
  assert.ok(ofMembers.length > 15, String(ofMembers.length));
  assert.deepEqual(
    ofMembers.filter((name) => !(name in ACT_TEXTS)),
    [],
  );
});
