// Moves users between the cells of `startTwoCells`, whose directories nobody copies.
import { selectSlot } from '../../packages/service/src/cells/moving-queries.ts';
import { slotOf } from '../../packages/service/src/cells/slot.ts';
import { bumpGeneration } from '../../packages/service/src/db/queries.ts';
import type { EndUserId } from '../../packages/service/src/kernel/ids.ts';
import { moveSlot } from '../../packages/service/src/moves/move-slot.ts';
import { send } from './client.ts';
import type { CellName, TwoCells } from './two-cells.ts';
import { waitUntil } from './wait-until.ts';

const COPY_MS = 10;

/** Moves the slot of a user, and waits until both gateways know it. */
export async function moveUser({ c1, c2, app }: TwoCells, user: EndUserId, to: CellName): Promise<void> {
  const [one, two] = [c1.database.owner, c2.database.owner];
  const slot = slotOf(app.appId, user);
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
