import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { addressOf, readGuides } from '../../packages/service/src/web/guides/library.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { ALONE, HELD_PLAYS, LONG_PLAYS } from '../proofs/observed/held-plays.ts';
import { PHASES, SLOW_TO_END } from '../proofs/observed/plays.ts';

/** The alerts of `deploy/prometheus`, tried by `promtool`. `npm run proofs -- alerts` fails if it is missing; a test run skips. */

const FOLDER = path.join(ROOT, 'deploy/prometheus');

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

interface RuleTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[];
}

function read(name: string): unknown {
  return parse(readFileSync(path.join(FOLDER, name), 'utf8'));
}

const { groups } = read('purser.rules.yml') as RuleFile;
const rules = groups.flatMap((group) => group.rules);

function promtool(...words: readonly string[]): string | undefined {
  try {
    return execFileSync('promtool', words, { cwd: FOLDER, encoding: 'utf8', stdio: 'pipe' });
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return undefined;
    throw fault;
  }
}

const isThere = promtool('--version') !== undefined;
const WITH_PROMTOOL = {
  skip:
    !isThere &&
    process.env['PURSER_TRY'] === undefined &&
    'promtool is missing: install Prometheus (Debian: apt-get install prometheus)',
};

test('OP-05 promtool sees each alert quiet and firing', WITH_PROMTOOL, () => {
  promtool('check', 'config', '--syntax-only', 'prometheus.yml');
  promtool('check', 'rules', 'purser.rules.yml');
  assert.match(promtool('test', 'rules', 'purser.rules.test.yml') ?? 'promtool is missing', /SUCCESS/);
});

test('OP-05 each alert has firing and quiet tests', () => {
  const { tests } = read('purser.rules.test.yml') as { tests: readonly RuleTest[] };
  const tried = tests.flatMap((one) => one.alert_rule_test);
  for (const { alert } of rules) {
    const own = tried.filter(({ alertname }) => alertname === alert);
    const fires = own.map(({ exp_alerts: alerts = [] }) => alerts.length > 0);
    assert.ok(fires.includes(true) && fires.includes(false), alert);
  }
});

test('OP-05 the runbook has one paragraph per alert', async () => {
  const guide = (await readGuides()).find(({ name }) => name === 'operator-alerts');
  assert.ok(guide !== undefined);
  const runbook = readFileSync(path.join(ROOT, 'docs/guides/operator/alerts.md'), 'utf8');
  const told = [...runbook.matchAll(/^### (Purser\w+)$/gm)].map(([, name = '']) => name);
  assert.deepEqual(told.toSorted(), rules.map(({ alert }) => alert).toSorted());
  const { global } = read('prometheus.yml') as { global: { external_labels?: { public_url?: string } } };
  assert.equal(global.external_labels?.public_url, 'https://pay.example.com', 'the address before each runbook');
  for (const { alert, labels, annotations } of rules) {
    assert.equal(annotations.runbook, `{{ $externalLabels.public_url }}${addressOf(guide, alert.toLowerCase())}`);
    assert.ok(['critical', 'warning'].includes(labels.severity), alert);
    // What `increase` counts is a fraction: 6.593 requests.
    assert.doesNotMatch(annotations.summary, /\| humanize \}/, alert);
  }
});

test('OP-05 a table says how far each alert was played', () => {
  const table = readFileSync(path.join(ROOT, 'tests/deploy/README.md'), 'utf8');
  const rows = [...table.matchAll(/^\| ([a-z].+) \| (Purser.+) \|$/gm)].map(([, how = '', names = '']) => ({
    hasEnded: how.endsWith(' ended') || how.includes(' ended with '),
    isPlayed: !how.startsWith('not played'),
    names: names.split(', '),
  }));
  const told = (is: (row: (typeof rows)[number]) => boolean) =>
    rows
      .filter(is)
      .flatMap(({ names }) => names)
      .toSorted();
  const plays = [...PHASES.flat(), ...HELD_PLAYS, ...ALONE, ...LONG_PLAYS];
  const ended = plays.filter(({ remedy }) => remedy !== undefined).flatMap(({ alerts }) => alerts);
  assert.deepEqual(
    told(() => true),
    rules.map(({ alert }) => alert).toSorted(),
  );
  assert.deepEqual(
    told(({ isPlayed }) => isPlayed),
    plays.flatMap(({ alerts }) => alerts).toSorted(),
  );
  assert.deepEqual(
    told(({ hasEnded }) => hasEnded),
    ended.filter((one) => !SLOW_TO_END.includes(one)).toSorted(),
  );
});
