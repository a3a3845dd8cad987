import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseAfter } from '#ledger/watch/pause.ts';

const periodMs = 60_000;

/** How long a pass takes that works for so long in pages of so many milliseconds, and the most that it works in a minute. */
function passOf(workMs: number, pageMs: number): { readonly passMs: number; readonly shares: readonly number[] } {
  const worked: number[] = [];
  let passMs = 0;
  for (let done = 0; done < workMs; done += pageMs) {
    const minute = Math.floor(passMs / periodMs);
    worked[minute] = (worked[minute] ?? 0) + pageMs;
    passMs += pageMs;
    passMs += pauseAfter({ pageMs, passMs, periodMs });
  }
  return { passMs, shares: worked.map((ms) => ms / periodMs) };
}

test('WA-09 a pass takes a twentieth of its time within its minute', () => {
  assert.equal(pauseAfter({ pageMs: 20, passMs: 1_000, periodMs }), 380);
  const { passMs, shares } = passOf(2_900, 20);
  assert.equal(Math.round(passMs), 58_000);
  assert.equal(shares.length, 1);
});

test('WA-09 a pass that overruns works harder each minute, and ends', () => {
  const { passMs, shares } = passOf(60_000, 20);
  assert.ok(passMs < 7 * periodMs, String(passMs));
  for (const [minute, share] of shares.entries()) assert.ok(share < 0.051 * (minute + 1), `${minute}: ${share}`);
});

test('WA-09 a slow page pauses a tenth of a minute at most', () => {
  assert.equal(pauseAfter({ pageMs: 30_000, passMs: 30_000, periodMs }), 6_000);
  assert.equal(pauseAfter({ pageMs: -5_000, passMs: -5_000, periodMs }), 0);
  assert.equal(pauseAfter({ pageMs: 20, passMs: 100 * periodMs, periodMs }), 0);
});
