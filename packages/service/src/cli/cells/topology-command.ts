import { addCell, assignSlots } from '#cells/topology/cells.ts';
import { publishDirectory, subscribe } from '#cells/directory/directory.ts';
import { copyDirectoryAgain } from '#cli/cells/copy-command.ts';
import { selectCells, selectOwnCell, selectSlots } from '#cells/topology/queries.ts';
import { slotOf, slotsInWords } from '#kernel/values/slot.ts';
import { UsageError } from '#cli/terminal/command-error.ts';
import type { DatabaseCommand, Settings } from '#cli/ground/ground.ts';
import { readSlots } from '#cli/cells/slots.ts';
import { refuseUnusable } from '#cli/ground/other-database.ts';
import type { Pool } from '#db/pool/pool.ts';
import { type AppId, type EndUserId, parseEndUserId, parseId } from '#kernel/values/ids.ts';
import { beginWalletIds, hasWalletsIn } from '#ledger/wallet/queries.ts';

/** Finds the cell of a user. Throws `UsageError` if these are no ids. */
export function finding(app: string, user: string): DatabaseCommand {
  const [appId, userId] = [parseId('app', app), parseEndUserId(user)];
  if (appId === undefined || userId === undefined) throw new UsageError('Name the id of an app and that of its user.');
  return (owner) => find(owner, appId, userId);
}

/** Gives slots to another cell. Throws `UsageError` if they are none. */
export function assigning(slots: string, { to }: { readonly to: string }): DatabaseCommand {
  const range = readSlots(slots);
  return async (owner) => {
    await assignSlots(owner, { ...range, to }, hasWalletsIn);
    console.log(`Slots ${slots} belong to ${to}.`);
  };
}

/** Copies the directory for the first time, or all of it again. Throws `UsageError` unless it is clear which. */
export function subscribing({
  at,
  again,
}: {
  readonly at?: string | undefined;
  readonly again?: true | undefined;
}): DatabaseCommand {
  if (again === true && at === undefined) return copyDirectoryAgain;
  if (at === undefined || again === true) throw new UsageError('`cells subscribe` takes --at <address> or --again.');
  return (owner, settings) => join(owner, at, settings);
}

async function find(owner: Pool, appId: AppId, userId: EndUserId): Promise<void> {
  const slot = slotOf(appId, userId);
  const cell = (await selectSlots(owner))[slot];
  console.log(cell === undefined ? `slot ${slot}; there are no cells` : `slot ${slot}, cell ${cell}`);
}

/** Lists the cells and their slots. */
export async function listCells(owner: Pool): Promise<void> {
  const slots = [...(await selectSlots(owner)).entries()];
  const own = await selectOwnCell(owner);
  for (const { name, base_url: address } of await selectCells(owner)) {
    const its = slots.filter(([, cell]) => cell === name).map(([slot]) => slot);
    const share = its.length === 0 ? 'no slots' : `${its.length} slots: ${slotsInWords(its)}`;
    console.log(`${name}${name === own ? ' (this database)' : ''}, ${address}, ${share}`);
  }
}

/** Adds a cell, or gives one another address. */
export function adding(name: string, { at }: { readonly at: string }): DatabaseCommand {
  return async (owner) => {
    const { cell, outcome } = await addCell(owner, name, at);
    const what = {
      added: 'There is a new cell',
      changed: 'Another address has the cell',
      kept: 'There is already the cell',
    };
    console.log(`${what[outcome]} ${cell.name}, ${cell.base_url}.`);
  };
}

/** Offers the directory of this database to other cells. */
export async function publish(owner: Pool): Promise<void> {
  await publishDirectory(owner);
  console.log('Other cells can copy the directory of this database.');
}

async function join(owner: Pool, publicUrl: string, { config, log }: Settings): Promise<void> {
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
