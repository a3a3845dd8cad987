import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueTimings } from '#kernel/metrics/catalogue-metrics.ts';
import { mergeReadings, readMetrics, renderMetrics } from '#kernel/metrics/metrics.ts';

const BOUNDS = [0.1, 1];
const readingsOf = (name: string) => readMetrics().filter((reading) => reading.name === name);
const textOf = (name: string): string => renderMetrics(readingsOf(name));

function timings(prefix: string) {
  return catalogueTimings(
    [
      { name: `${prefix}_wait_seconds`, help: 'Waits.', bounds: BOUNDS },
      { name: `${prefix}_work_seconds`, help: 'Work.', bounds: BOUNDS },
    ],
    { names: ['model', 'provider'], fixed: ['outcome'] },
  );
}

test('OP-05 a histogram counts each value in its bucket and all above', () => {
  const [waits] = timings('purser_one').of('small', 'acme', 'answered');
  for (const seconds of [0.1, 0.25, 0.5, 4]) waits?.observe(seconds);
  const labels = 'model="small",provider="acme",outcome="answered"';
  assert.equal(
    textOf('purser_one_wait_seconds'),
    '# HELP purser_one_wait_seconds Waits.\n# TYPE purser_one_wait_seconds histogram\n' +
      `purser_one_wait_seconds_bucket{${labels},le="0.1"} 1\n` +
      `purser_one_wait_seconds_bucket{${labels},le="1"} 3\n` +
      `purser_one_wait_seconds_bucket{${labels},le="+Inf"} 4\n` +
      `purser_one_wait_seconds_sum{${labels}} 4.85\n` +
      `purser_one_wait_seconds_count{${labels}} 4\n`,
  );
  const nothingYet = '# HELP purser_one_work_seconds Work.\n# TYPE purser_one_work_seconds histogram\n';
  assert.equal(textOf('purser_one_work_seconds'), nothingYet);
});

test('OP-05 a hundred thousand made-up names make only some 500 series', () => {
  const set = timings('purser_many');
  for (let name = 0; name < 100_000; name += 1) set.of(`made-up-${name}`, 'acme', 'refused')[0]?.observe(0.01);
  set.of('made-up-7', 'acme', 'refused')[0]?.observe(0.01);
  const lines = textOf('purser_many_wait_seconds').split('\n');
  const counts = lines.filter((line) => line.startsWith('purser_many_wait_seconds_count'));
  assert.equal(counts.length, 501);
  const other = 'purser_many_wait_seconds_count{model="other",provider="other",outcome="refused"} 99500';
  assert.ok(counts.includes(other), counts.slice(-1).join());
  assert.ok(counts.includes('purser_many_wait_seconds_count{model="made-up-7",provider="acme",outcome="refused"} 2'));
});

test('OP-05 names written alike share a series', () => {
  const set = timings('purser_alike');
  set.of('a b', 'acme', 'answered')[0]?.observe(1);
  set.of('a"b', 'acme', 'answered')[0]?.observe(1);
  assert.match(textOf('purser_alike_wait_seconds'), /_count\{model="a_b",provider="acme",outcome="answered"\} 2\n$/);
});

test('OP-05 histograms of several processes are added up by series', () => {
  const set = timings('purser_merged');
  set.of('small', 'acme', 'answered')[0]?.observe(0.5);
  const one = readingsOf('purser_merged_wait_seconds');
  set.of('small', 'acme', 'answered')[0]?.observe(4);
  set.of('large', 'acme', 'failed')[0]?.observe(0.1);
  const other = readingsOf('purser_merged_wait_seconds');
  const text = renderMetrics(mergeReadings([one, other, JSON.parse(JSON.stringify(one)) as typeof one]));
  assert.match(text, /_bucket\{model="small",provider="acme",outcome="answered",le="1"\} 3\n/);
  assert.match(text, /_count\{model="small",provider="acme",outcome="answered"\} 4\n/);
  assert.match(text, /_sum\{model="small",provider="acme",outcome="answered"\} 5.5\n/);
  assert.match(text, /_count\{model="large",provider="acme",outcome="failed"\} 1\n/);
});
