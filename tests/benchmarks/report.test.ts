// How the benchmark evaluates its samples. The measurements themselves are not tested because noise would decide.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chartOf } from '../../benchmarks/chart.ts';
import { figure, medianOf, type Row } from '../../benchmarks/measure.ts';
import { findingsOf, GOALS, type Goal } from '../../benchmarks/ratios.ts';
import { jsonOf, markdownOf, type Report } from '../../benchmarks/report.ts';
import { placementOn } from '../../benchmarks/support/tools.ts';

const MAIN = fileURLToPath(new URL('../../benchmarks/main.ts', import.meta.url));
const GOAL: Goal = {
  title: 'both of ours over <theirs>',
  measure: 'some',
  of: [
    { target: 'ours', column: 'service' },
    { target: 'ours', column: 'database' },
  ],
  over: [{ target: 'theirs', column: 'service' }],
  bound: 'most',
  floor: 6,
  aim: 3.5,
};

function row(target: string, columns: Readonly<Record<string, readonly number[]>>, isVoid?: string): Row {
  const figures = Object.fromEntries(
    Object.entries(columns).map(([name, samples]) => [name, figure('us/call', samples)]),
  );
  return { target, figures, ...(isVoid === undefined ? {} : { isVoid }) };
}

function judge(goal: Goal, ...rows: readonly Row[]) {
  const [finding] = findingsOf(new Map([['some', rows]]), [goal]);
  assert.ok(finding);
  return finding;
}

function verdictOf(goal: Goal, value: number): string {
  return judge(goal, row('ours', { service: [value] })).verdict;
}

test('a median is the middle sample or the mean of two', () => {
  assert.equal(medianOf([9, 100, 20]), 20);
  assert.equal(medianOf([9, 100, 20, 30]), 25);
  assert.ok(Number.isNaN(medianOf([])));
});

test('a ratio is the median of the rounds’ ratios', () => {
  const ours = row('ours', { service: [10, 20, 90], database: [10, 20, 10] });
  const theirs = row('theirs', { service: [10, 10, 10] });
  assert.equal(judge(GOAL, ours, theirs).value, 4);
  // A ratio of the medians would be (20 + 10) / 10.
});

test('unmatched rounds use the ratio of the medians', () => {
  const ours = row('ours', { service: [10, 20, 90], database: [10, 20, 10] });
  assert.equal(judge(GOAL, ours, row('theirs', { service: [10, 10] })).value, 3);
});

test('a goal without a denominator is the figure itself', () => {
  const alone = { ...GOAL, of: [{ target: 'ours', column: 'service' }] };
  const { over: _none, ...goal } = alone;
  assert.equal(judge(goal, row('ours', { service: [5, 7, 6] })).value, 6);
});

test('the verdict’s limits are inclusive in both directions', () => {
  const { over: _none, ...most } = { ...GOAL, of: [{ target: 'ours', column: 'service' }] };
  const least: Goal = { ...most, bound: 'least', floor: 3.5, aim: 6 };
  const found = [3.4, 3.5, 3.6, 6, 6.1].map((value) => [verdictOf(most, value), verdictOf(least, value)]);
  assert.deepEqual(found, [
    ['aim reached', 'MISSED'],
    ['aim reached', 'floor held'],
    ['floor held', 'floor held'],
    ['floor held', 'aim reached'],
    ['MISSED', 'aim reached'],
  ]);
});

test('a void or absent target reaches no goal', () => {
  const ours = row('ours', { service: [1], database: [1] });
  const isVoid = row('theirs', { service: [10] }, 'of 9 answers 9 were wrong');
  assert.equal(judge(GOAL, ours, isVoid).verdict, 'not measured');
  assert.equal(judge(GOAL, ours).verdict, 'not measured');
  assert.equal(judge(GOAL, ours, row('theirs', {})).verdict, 'not measured');
});

test('each goal’s aim is beyond its floor', () => {
  for (const { title, bound, floor, aim } of GOALS) assert.ok(bound === 'most' ? aim < floor : aim > floor, title);
});

test('the report gives every figure, void target and gap', () => {
  const rows = [
    row('theirs', { service: [10], memory: [64] }, 'all answers were wrong'),
    row('ours', { service: [8], database: [32], memory: [128] }),
  ];
  const report: Report = {
    date: '2026-01-02',
    machine: 'a machine',
    rounds: 1,
    seconds: 1,
    placement: 'Anywhere.',
    measures: [{ name: 'some', title: 'Some calls' }],
    results: new Map([['some', rows]]),
    notes: new Map([['some', ['9 calls were charged.']]]),
    missing: [{ what: 'wrk', how: 'buy one' }],
    othersPercent: 12.3,
  };
  const text = markdownOf(report);
  for (const line of [
    /^\| ours +\| +8\.00 \| +32\.0 \| +128 \|$/m,
    /^\| theirs \(void\) \| +10\.0 \| +- \| +64\.0 \|$/m,
    /theirs is void: all answers were wrong\./,
    /9 calls were charged\./,
    /- wrk: buy one/,
    /Other processes used 12 % of a core/,
    /charged call.*not measured/,
  ]) {
    assert.match(text, line);
  }
  const data = JSON.parse(jsonOf(report)) as { readonly results: unknown; readonly findings: readonly unknown[] };
  assert.deepEqual(data.results, { some: rows });
  assert.equal(data.findings.length, GOALS.length);
});

test('the chart shows only measured bars, with titles', () => {
  const rows = [row('ours', { service: [30], database: [30] }), row('theirs', { service: [10] })];
  const findings = findingsOf(new Map([['some', rows]]), [GOAL, { ...GOAL, title: 'unknown', measure: 'other' }]);
  const chart = chartOf(findings, '2026-01-02');
  assert.match(chart, /both of ours over &lt;theirs&gt;/);
  assert.doesNotMatch(chart, /unknown/);
});

test('all goals share one floor line to scale', () => {
  const rows = [row('ours', { service: [30], database: [30] }), row('theirs', { service: [10] })];
  const findings = findingsOf(new Map([['some', rows]]), [GOAL, { ...GOAL, bound: 'least', floor: 2.5, aim: 5 }]);
  const chart = chartOf(findings, '2026-01-02');
  const numbers = (pattern: RegExp) => [...chart.matchAll(pattern)].map(([, found]) => Number(found));
  const [left = 0] = numbers(/class="floor" x="([\d.]+)"/g);
  const [width = 0] = numbers(/class="floor" x="[\d.]+" y="\d+" width="([\d.]+)"/g);
  const [floor = 0, otherFloor] = numbers(/class="line" x1="([\d.]+)"/g);
  const [aim, otherAim] = numbers(/class="aimline" x1="([\d.]+)"/g);
  assert.equal(left + width, floor);
  assert.equal(otherFloor, floor);
  assert.deepEqual([aim, otherAim], [left + (width * 3.5) / 6, left + width * 2]);
});

test('the measured process has its own core if possible', () => {
  assert.deepEqual(placementOn([4, 6]), { load: '4', upstream: '4', database: '4', gateway: '6' });
  assert.deepEqual(placementOn([0, 1, 2]), { load: '0', upstream: '0', database: '0', gateway: '1' });
  assert.deepEqual(placementOn([0, 1, 2, 3, 7]), { load: '0', upstream: '2', database: '3,7', gateway: '1' });
  assert.deepEqual(new Set(Object.values(placementOn([5]))), new Set(['5']));
});

test('on a bare machine the benchmark says what is missing and exits 0', () => {
  const bare = mkdtempSync(path.join(os.tmpdir(), 'purser-bare-'));
  try {
    const words = [MAIN, '--only', 'plain', '--only', 'streamed', '--tools', bare];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', timeout: 60_000 });
    assert.equal(status, 0, stderr);
    for (const name of ['nginx', 'wrk', 'taskset']) assert.match(stdout, new RegExp(`^- ${name}: .+`, 'm'));
    assert.match(stdout, /apt-get install nginx-light/);
    assert.match(stdout, /apt-get install wrk/);
  } finally {
    rmSync(bare, { recursive: true, force: true });
  }
});

test('the error for an unknown measure lists the known ones', () => {
  const { status, stderr } = spawnSync(process.execPath, [MAIN, '--only', 'plane'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(status, 2);
  assert.match(stderr, /no measure plane\. There are plain, .*streamed/);
});
