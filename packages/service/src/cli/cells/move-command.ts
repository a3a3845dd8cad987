import { CellFault } from '#cells/topology/cells.ts';
import { selectDirectoryUrl } from '#cells/topology/queries.ts';
import { UsageError } from '#cli/terminal/command-error.ts';
import type { DatabaseCommand, Settings } from '#cli/ground/ground.ts';
import { refuseUnusable } from '#cli/ground/other-database.ts';
import { readSlots } from '#cli/cells/slots.ts';
import { createPool, type Pool } from '#db/pool/pool.ts';
import { type MoveDatabases, moveSlot, takeBack } from '#cells/moving/move-slot.ts';

/** Gateways look for changes of the map every quarter of a second. */
const NOTICE_MS = 1_000;
const WAIT_S = 300;
const WAIT_S_MAX = 86_400;

/** Moves slots, or gives up a move that was killed. Throws `UsageError` if they are none, or the wait is no time. */
export function moving(
  slots: string,
  {
    to,
    wait = String(WAIT_S),
    back,
  }: { readonly to: string; readonly wait?: string; readonly back?: true | undefined },
): DatabaseCommand {
  const range = readSlots(slots);
  const seconds = /^\d+$/.test(wait) ? Number(wait) : Infinity;
  if (seconds > WAIT_S_MAX) throw new UsageError(`--wait must be a number of seconds up to ${WAIT_S_MAX}.`);
  const drainMs = seconds * 1_000;
  return (owner, settings) =>
    withDatabases(owner, settings, async (databases) => {
      for (let slot = range.least; slot <= range.most; slot += 1) {
        if (back === true) await giveUp(databases, slot);
        else await moveOne(databases, { slot, to, drainMs });
      }
    });
}

async function moveOne(
  databases: MoveDatabases,
  options: { readonly slot: number; readonly to: string; readonly drainMs: number },
): Promise<void> {
  const { slot, to } = options;
  const moved = await moveSlot(databases, { ...options, noticeMs: NOTICE_MS });
  if (moved === undefined) return console.log(`Slot ${slot} belongs to ${to}.`);
  const { wallets, balance, owed, stoppedMs } = moved;
  const debt = owed === 0n ? '' : `, ${owed} micros owed`;
  console.log(`Slot ${slot} moved to ${to}: ${wallets} wallets, ${balance} micros${debt}, ${stoppedMs.toFixed(0)} ms.`);
}

async function giveUp(databases: MoveDatabases, slot: number): Promise<void> {
  await takeBack(databases, slot);
  console.log(`Slot ${slot} does not move.`);
}

async function withDatabases(
  from: Pool,
  { config: { directoryUrl, otherDatabaseUrl }, log }: Settings,
  work: (databases: MoveDatabases) => Promise<void>,
): Promise<void> {
  const hasCopy = (await selectDirectoryUrl(from)) !== undefined;
  if (otherDatabaseUrl === undefined || (hasCopy && directoryUrl === undefined)) {
    throw new UsageError(
      'Set DATABASE_URL to the database of the cell that gives the slots, and PURSER_OTHER_DATABASE_URL to that of the cell that takes them. If ' +
        'the first one is not where the directory is written, set PURSER_DIRECTORY_URL too.',
    );
  }
  const opened: Pool[] = [];
  const open = async (setting: string, url: string): Promise<Pool> => {
    await refuseUnusable(setting, url, log);
    const pool = createPool({ url, role: 'owner', connectionsMax: 2, log });
    opened.push(pool);
    return pool;
  };
  try {
    const to = await open('PURSER_OTHER_DATABASE_URL', otherDatabaseUrl);
    const directory = hasCopy && directoryUrl !== undefined ? await open('PURSER_DIRECTORY_URL', directoryUrl) : from;
    if ((await selectDirectoryUrl(directory)) !== undefined) {
      throw new CellFault('PURSER_DIRECTORY_URL is not the database in which the directory is written.');
    }
    await work({ directory, from, to });
  } finally {
    for (const pool of opened) await pool.end();
  }
}
