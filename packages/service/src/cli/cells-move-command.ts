import { parseArgs } from 'node:util';
import type { Config } from '#app/config.ts';
import { CellFault } from '#cells/cells.ts';
import { selectDirectoryUrl } from '#cells/queries.ts';
import { rangeOf } from '#cells/slot.ts';
import { UsageError } from '#cli/command-error.ts';
import { refuseUnusable } from '#cli/other-database.ts';
import { createPool, type Pool } from '#db/pool.ts';
import type { Log } from '#kernel/log.ts';
import { type MoveDatabases, moveSlot, takeBack } from '#moves/move-slot.ts';

/** Gateways look for changes of the map every quarter of a second. */
const NOTICE_MS = 1_000;
const WAIT_S = 300;
const WAIT_S_MAX = 86_400;

interface MoveContext {
  readonly config: Pick<Config, 'directoryUrl' | 'otherDatabaseUrl'>;
  readonly log: Log;
}

type Move = (owner: Pool, context: MoveContext) => Promise<void>;

/** Reads `cells move <slots> --to <cell> [--wait <seconds>] [--back]`. Undefined if the words are no such command. */
export function readMove(words: readonly string[]): Move | undefined {
  const text = { type: 'string' } as const;
  let given;
  try {
    given = parseArgs({
      args: [...words],
      options: { to: text, wait: text, back: { type: 'boolean' } },
      allowPositionals: true,
    });
  } catch {
    return undefined;
  }
  const { to, wait = String(WAIT_S), back = false } = given.values;
  const range = given.positionals.length === 1 ? rangeOf(given.positionals[0] ?? '') : undefined;
  const seconds = /^\d+$/.test(wait) ? Number(wait) : undefined;
  if (range === undefined || to === undefined || seconds === undefined || seconds > WAIT_S_MAX) return undefined;
  const drainMs = seconds * 1_000;
  return (owner, context) =>
    withDatabases(owner, context, async (databases) => {
      for (let slot = range.least; slot <= range.most; slot += 1) {
        if (back) await giveUp(databases, slot);
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
  { config: { directoryUrl, otherDatabaseUrl }, log }: MoveContext,
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
