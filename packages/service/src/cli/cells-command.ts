import { parseArgs } from 'node:util';
import type { Config } from '#app/config.ts';
import { addCell, assignSlots, CellFault } from '#cells/cells.ts';
import { publishDirectory, subscribe } from '#cells/directory.ts';
import { copyDirectoryAgain, printComparison } from '#cli/cells-copy-command.ts';
import { selectCells, selectOwnCell, selectSlots } from '#cells/queries.ts';
import { rangeOf, slotOf, SLOTS, slotsInWords } from '#cells/slot.ts';
import { printBooks } from '#cli/cells-books-command.ts';
import { readMove } from '#cli/cells-move-command.ts';
import { CommandError, UsageError } from '#cli/command-error.ts';
import { refuseUnusable } from '#cli/other-database.ts';
import type { Pool } from '#db/pool.ts';
import { type AppId, type EndUserId, parseEndUserId, parseId } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { beginWalletIds, hasWalletsIn } from '#ledger/wallet/queries.ts';

const USAGE =
  '`cells` takes `list`, `books`, `find <app> <user>`, `add <name> --at <address>`, `assign <slots> --to <cell>`, ' +
  '`move <slots> --to <cell>` with `--wait <seconds>` or `--back`, `publish`, ' +
  '`subscribe --at <address>`, `subscribe --again`, or `compare`. Slots are written as 17 or 0-2047, up to ' +
  `${SLOTS - 1}.`;

export interface Context {
  readonly config: Pick<Config, 'cell' | 'directoryUrl' | 'otherDatabaseUrl' | 'secret' | 'secretAlso'>;
  readonly log: Log;
}

/** Gives the exit status, if it is not 0. */
type CellsCommand = (owner: Pool, context: Context) => Promise<number | void>;

/** Reads what follows `purser cells`. Throws `UsageError`. */
export function readCells([sub = '', ...words]: readonly string[]): CellsCommand {
  const command = sub === 'move' ? readMove(words) : commandOf(sub, words);
  if (command === undefined) throw new UsageError(USAGE);
  return async (owner, context) => {
    try {
      return await command(owner, context);
    } catch (fault) {
      throw fault instanceof CellFault ? new CommandError(fault.message, { cause: fault }) : fault;
    }
  };
}

/** Undefined if the words are no command. */
function commandOf(sub: string, words: readonly string[]): CellsCommand | undefined {
  const text = { type: 'string' } as const;
  let given;
  try {
    given = parseArgs({
      args: [...words],
      options: { at: text, to: text, again: { type: 'boolean' } },
      allowPositionals: true,
    });
  } catch {
    return undefined;
  }
  const { at, to } = given.values;
  const [named = '', second, ...others] = given.positionals;
  const options = Object.keys(given.values).join();
  if (sub === 'find' && others.length === 0 && options === '') return finding(parseId('app', named), second);
  if (second !== undefined) return undefined;
  if (sub === 'list' && named === '' && options === '') return list;
  if (sub === 'books' && named === '' && options === '') return (owner, { config }) => printBooks(owner, config);
  if (sub === 'publish' && named === '' && options === '') return publish;
  if (sub === 'compare' && named === '' && options === '') return (owner, { config }) => printComparison(owner, config);
  if (sub === 'subscribe' && named === '' && options === 'again') return copyDirectoryAgain;
  if (sub === 'subscribe' && named === '' && at !== undefined && options === 'at') {
    return (owner, context) => join(owner, at, context);
  }
  if (sub === 'add' && at !== undefined && options === 'at') return (owner) => add(owner, named, at);
  const range = rangeOf(named);
  if (sub !== 'assign' || range === undefined || to === undefined || options !== 'to') return undefined;
  return async (owner) => {
    await assignSlots(owner, { ...range, to }, hasWalletsIn);
    console.log(`Slots ${named} belong to ${to}.`);
  };
}

function finding(appId: AppId | undefined, user = ''): CellsCommand | undefined {
  const userId = parseEndUserId(user);
  return appId === undefined || userId === undefined ? undefined : (owner) => find(owner, appId, userId);
}

async function find(owner: Pool, appId: AppId, userId: EndUserId): Promise<void> {
  const slot = slotOf(appId, userId);
  const cell = (await selectSlots(owner))[slot];
  console.log(cell === undefined ? `slot ${slot}; there are no cells` : `slot ${slot}, cell ${cell}`);
}

async function list(owner: Pool): Promise<void> {
  const slots = [...(await selectSlots(owner)).entries()];
  const own = await selectOwnCell(owner);
  for (const { name, base_url: address } of await selectCells(owner)) {
    const its = slots.filter(([, cell]) => cell === name).map(([slot]) => slot);
    const share = its.length === 0 ? 'no slots' : `${its.length} slots: ${slotsInWords(its)}`;
    console.log(`${name}${name === own ? ' (this database)' : ''}, ${address}, ${share}`);
  }
}

async function add(owner: Pool, name: string, address: string): Promise<void> {
  const { cell, outcome } = await addCell(owner, name, address);
  const what = {
    added: 'There is a new cell',
    changed: 'Another address has the cell',
    kept: 'There is already the cell',
  };
  console.log(`${what[outcome]} ${cell.name}, ${cell.base_url}.`);
}

async function publish(owner: Pool): Promise<void> {
  await publishDirectory(owner);
  console.log('Other cells can copy the directory of this database.');
}

async function join(owner: Pool, publicUrl: string, { config, log }: Context): Promise<void> {
  const { cell: name, directoryUrl: databaseUrl } = config;
  if (name === undefined || databaseUrl === undefined) {
    throw new UsageError(
      'Set PURSER_CELL to the name of the new cell, and PURSER_DIRECTORY_URL to the database that has the directory.',
    );
  }
  await refuseUnusable('PURSER_DIRECTORY_URL', databaseUrl, log);
  await subscribe(owner, { name, databaseUrl, publicUrl, beginWalletIds, log });
  console.log(`This database is the cell ${name}, and has a copy of the directory.`);
}
