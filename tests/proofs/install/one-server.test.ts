import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { before, test } from 'node:test';
import { packArchive } from '../../../tools/pack/archive.ts';
import { pack } from '../../../tools/pack/pack.ts';
import { play, reasonForNoPlay } from './own-machine.ts';

/** The page for one server and pgBackRest, from the pages alone. */

/** 10 and 5 tokens, with the price and the margin of the catalogue that `purser setup` writes. */
const CHARGE = 14;

interface Day {
  readonly charges: readonly number[];
  /** The books at the moment, and after the restore to it. */
  readonly before: string;
  readonly restored: string;
  readonly refused: number;
  readonly steps: readonly { readonly what: string; readonly atSeconds: number }[];
}

const skip = reasonForNoPlay('pgbackrest');
let day: Day;

before(async () => {
  if (skip !== false) return;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-day-'));
  try {
    const packed = pack(path.join(folder, 'dist'));
    assert.ok(packed.platform);
    const archive = await packArchive(packed, packed.platform, path.join(folder, 'dist'));
    day = (await play(path.join(import.meta.dirname, 'one-server.play.ts'), path.join(folder, 'machine'), {
      archive,
    })) as Day;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

test('OP-17 the page for one server leads to a charged call through TLS', { skip }, (t) => {
  for (const { what, atSeconds } of day.steps) t.diagnostic(`${atSeconds} s: ${what}`);
  assert.equal(day.refused, 0);
  assert.equal(day.charges[0], CHARGE);
});

test('OP-08 pgBackRest brings a database back to the moment of the guide', { skip }, () => {
  assert.equal(day.restored, day.before);
  assert.deepEqual(day.charges, [CHARGE, CHARGE, CHARGE, CHARGE]);
});
