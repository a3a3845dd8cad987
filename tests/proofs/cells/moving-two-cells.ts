// Moves users between the cells of `startTwoCells`, whose directories nobody copies.
import assert from 'node:assert/strict';
import { selectSlot } from '../../../packages/service/src/cells/moving/queries.ts';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import { bumpGeneration } from '../../../packages/service/src/db/processes/queries.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { moveSlot } from '../../../packages/service/src/cells/moving/move-slot.ts';
import { send } from '../../support/client.ts';
import type { CellName, TwoCells } from './two-cells.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

const COPY_MS = 10;
const NOWHERE = 'http://127.0.0.1:9';

/** The slots that have moved, in any test of the file. */
const moved = new Set<number>();

/** A new user whose slot belongs to this cell and never moved. */
export function unmovedUser({ app, userOf }: TwoCells, cell: CellName): EndUserId {
  for (;;) {
    const user = userOf(cell);
    if (!moved.has(slotOf(app.appId, user))) return user;
  }
}

/** Moves the slot of a user, and waits until both gateways know it. */
export async function moveUser({ c1, c2, app }: TwoCells, user: EndUserId, to: CellName): Promise<void> {
  const [one, two] = [c1.database.owner, c2.database.owner];
  const slot = slotOf(app.appId, user);
  moved.add(slot);
  const copy = async (): Promise<void> => {
    const row = await selectSlot(one, slot);
    const values = [slot, row?.cell, row?.moving_to, row?.moves];
    const { rowCount } = await two.query(
      `update cells.slots set cell = $2, moving_to = $3, moves = $4
       where slot = $1 and (cell, moving_to, moves) is distinct from ($2, $3, $4)`,
      values,
    );
    if (rowCount === 1) await bumpGeneration(two, 'cells');
  };
  const [from, taking] = to === 'c2' ? [one, two] : [two, one];
  let copying = Promise.resolve();
  const copier = setInterval(() => void (copying = copying.then(copy)), COPY_MS);
  try {
    await moveSlot({ directory: one, from, to: taking }, { slot, to, noticeMs: 0, drainMs: 10_000 });
  } finally {
    clearInterval(copier);
    await copying;
  }
  await copy();
  for (const { url } of [c1, c2]) {
    await waitUntil('it knows of the move', async () => {
      return (await send('/balance', { url, key: app.liveKey, user })).status === 200;
    });
  }
}

/** What the receipts of both cells say, as one. */
export async function bookedInBoth({ c1, c2, app }: TwoCells) {
  let [calls, charged] = [0, 0];
  const users = new Map<string, { charged: number; lastAt: string }>();
  for (const { database } of [c1, c2]) {
    const rows = await sql<{ user_id: string; charged_micros: bigint; settled_at: Date }>(database)`
      select w.user_id, c.charged_micros, c.settled_at from usage.calls c join ledger.wallets w using (wallet_id)
      where w.app_id = ${app.appId}`;
    assert.ok(rows.length > 0);
    for (const { user_id: user, charged_micros: micros, settled_at: at } of rows) {
      calls += 1;
      charged += Number(micros);
      const { charged: before = 0, lastAt = '' } = users.get(user) ?? {};
      const iso = at.toISOString();
      users.set(user, { charged: before + Number(micros), lastAt: iso > lastAt ? iso : lastAt });
    }
  }
  return { calls, charged, users };
}

/** Two users of c1 who move together. */
export function neighbours(cells: TwoCells): readonly [EndUserId, EndUserId] {
  const bySlot = new Map<number, EndUserId>();
  for (;;) {
    const user = unmovedUser(cells, 'c1');
    const slot = slotOf(cells.app.appId, user);
    const other = bySlot.get(slot);
    if (other !== undefined) return [other, user];
    bySlot.set(slot, user);
  }
}

/** Says in the cell `at` that nobody is at the address of the other one, until the test ends. */
export async function cutOff(cells: TwoCells, at: CellName): Promise<() => Promise<void>> {
  const other = at === 'c1' ? 'c2' : 'c1';
  const { url } = cells[at];
  const user = unmovedUser(cells, other);
  const reaches = async () => (await send('/balance', { url, key: cells.app.liveKey, user })).status === 402;
  await cells.setAddress(at, other, NOWHERE);
  await waitUntil('it has no way', async () => !(await reaches()));
  return async () => {
    await cells.setAddress(at, other, cells[other].url);
    await waitUntil('it has a way', reaches);
  };
}
