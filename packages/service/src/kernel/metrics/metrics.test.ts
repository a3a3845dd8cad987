import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  counter,
  gauge,
  labelledCounter,
  mergeReadings,
  type MetricReading,
  readCounter,
  readMetrics,
  renderMetrics,
} from '#kernel/metrics/metrics.ts';

const textOf = (name: string): string => renderMetrics(readMetrics().filter((reading) => reading.name === name));

test('OP-05 a counter starts at 0 and shows what was added', () => {
  const made = counter('purser_made_total', 'Things that were made.');
  assert.equal(
    textOf('purser_made_total'),
    '# HELP purser_made_total Things that were made.\n# TYPE purser_made_total counter\npurser_made_total 0\n',
  );
  made.add();
  made.add(41);
  assert.match(textOf('purser_made_total'), /^purser_made_total 42$/m);
});

test('OP-05 a labelled counter has all its label combinations from the start', () => {
  const sold = labelledCounter('purser_sold_total', 'Sold.', { size: ['small', 'large'], colour: ['red'] });
  sold.of({ size: 'large', colour: 'red' }).add(3);
  assert.equal(
    textOf('purser_sold_total'),
    '# HELP purser_sold_total Sold.\n# TYPE purser_sold_total counter\n' +
      'purser_sold_total{size="small",colour="red"} 0\npurser_sold_total{size="large",colour="red"} 3\n',
  );
  assert.throws(() => sold.of({ size: 'svc_live_key' as 'small', colour: 'red' }), /label values were declared/);
});

test('OP-05 gauges and external counters are read when metrics are', () => {
  let level = 1.5;
  gauge({ name: 'purser_level', help: 'Level.', across: 'max', read: () => level });
  readCounter({ name: 'purser_kept_total', help: 'Kept.', read: () => level * 2 });
  level = 2.5;
  assert.match(textOf('purser_level'), /# TYPE purser_level gauge\npurser_level 2.5\n$/);
  assert.match(textOf('purser_kept_total'), /^purser_kept_total 5$/m);
});

test('OP-05 declaring an invalid name or kind throws', () => {
  for (const name of ['made_total', 'purser_made', 'purser_Made_total', 'purser_made_total ', 'purser__total']) {
    assert.throws(() => counter(name, 'x'), /valid metric name|ends in _total/, name);
  }
  assert.throws(() => gauge({ name: 'purser_x_total', help: 'x', across: 'sum', read: () => 0 }), /ends in _total/);
  assert.throws(() => labelledCounter('purser_y_total', 'x', { a: ['say "no"'] }), /valid label value/);
});

const reading = (name: string, across: 'sum' | 'max', ...samples: readonly [string, number][]): MetricReading => {
  return { name, kind: 'gauge', help: 'x', across, samples };
};

test('OP-05 readings of several processes merge by series', () => {
  const one = [reading('purser_a', 'sum', ['{m="x"}', 1], ['{m="y"}', 2]), reading('purser_b', 'max', ['', 5])];
  const other = [reading('purser_b', 'max', ['', 3]), reading('purser_a', 'sum', ['{m="x"}', 10], ['{m="z"}', 4])];
  assert.deepEqual(mergeReadings([one, other, []]), [
    reading('purser_a', 'sum', ['{m="x"}', 11], ['{m="y"}', 2], ['{m="z"}', 4]),
    reading('purser_b', 'max', ['', 5]),
  ]);
  assert.deepEqual(mergeReadings([]), []);
});
