import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMsOf } from './retry-after.ts';

const NOW = 'date: Mon, 23 Nov 2026 10:00:00 GMT';

/** Each case has header lines, and how long they ask to wait. */
const CASES: readonly (readonly [lines: readonly string[], ms: number | undefined])[] = [
  [['retry-after: 7'], 7_000],
  [['Retry-After:0'], 0],
  [['RETRY-AFTER: 1.5 '], 1_500],
  [['content-length: 0', 'retry-after: 20', 'x: y'], 20_000],
  [['retry-after: 20', 'retry-after-ms: 350'], 350],
  [['retry-after-ms: 350.75'], 350],
  [[NOW, 'retry-after: Mon, 23 Nov 2026 10:00:30 GMT'], 30_000],
  [['retry-after: Mon, 23 Nov 2026 11:01:01 GMT', NOW], 3_661_000],
  [[NOW, 'retry-after: Mon, 23 Nov 2026 09:00:00 GMT'], 0],
  [['retry-after: Mon, 23 Nov 2026 10:00:30 GMT'], undefined],
  [['date: Mon, 28 Feb 2028 23:59:59 GMT', 'retry-after: Wed, 01 Mar 2028 00:00:01 GMT'], 86_402_000],
  [['date: Thu, 31 Dec 2026 23:59:50 GMT', 'retry-after: Fri, 01 Jan 2027 00:00:00 GMT'], 10_000],
  [[NOW, 'retry-after: 23 Nov 2026'], undefined],
  [['retry-after: 999999999'], 999_999_999_000],
  [['retry-after: 9999999999'], undefined],
  [['retry-after: -1'], undefined],
  [['retry-after: soon'], undefined],
  [['retry-after: 2026'], 2_026_000],
  [['retry-after: 2026-11-23T10:00:30Z'], undefined],
  [['retry-after:'], undefined],
  [['x-retry-after: 7'], undefined],
  [[], undefined],
];

for (const [lines, ms] of CASES) {
  test(`CC-17 \`${lines.join(', ')}\` asks to wait ${ms === undefined ? 'for no known time' : `${ms} ms`}`, () => {
    assert.equal(retryAfterMsOf(lines.map((line) => `\r\n${line}`).join('')), ms);
  });
}
