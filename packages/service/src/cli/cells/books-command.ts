import { readBooksOfCells } from '#app/cells/books.ts';
import { CellAway } from '#cells/routing/cell-away.ts';
import { selectMovingSlots } from '#cells/topology/queries.ts';
import { CommandError } from '#cli/terminal/command-error.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Secrets } from '#kernel/crypto/keys.ts';
import type { CellBooks } from '#ledger/moving/queries.ts';

/**
 * `cells books` prints the money in each cell, and whether what has left cells has arrived in others. The exit status
 * is 1 if there is a difference. Throws `CommandError` if a cell does not answer.
 */
export async function printBooks(owner: Pool, secrets: Secrets): Promise<number> {
  const all = await readBooksOfCells(owner, secrets).catch(told);
  if (all === undefined) throw new CommandError('This database is no cell.');
  for (const [name, books] of all) console.log(`${name}: ${inWords(books)}`);
  const sum = sumOf(all.map(([, books]) => books));
  console.log(`all cells: ${inWords(sum)}`);
  const moving = (await selectMovingSlots(owner)).length;
  if (moving > 0) {
    console.log(`${moving} slots are moving, and their money may be on its way. Run this again when they have moved.`);
  }
  const [money, owed] = [sum.moved_in - sum.moved_out, sum.owed_in - sum.owed_out];
  console.log(`difference: ${money} micros, ${owed} owed`);
  return money === 0n && owed === 0n ? 0 : 1;
}

function told(fault: unknown): never {
  if (!(fault instanceof CellAway)) throw fault;
  throw new CommandError(`${fault.message} Nothing is added up without it.`, { cause: fault });
}

function inWords(books: CellBooks): string {
  const { wallets, balance, owed, moved_in: came, moved_out: left, owed_in: owedCame, owed_out: owedLeft } = books;
  const moved = `${came} came in and ${left} went out; owed: ${owedCame} came in and ${owedLeft} went out`;
  return `${wallets} wallets with ${balance} micros, ${owed} owed; ${moved}`;
}

function sumOf(all: readonly CellBooks[]): CellBooks {
  const sum = (name: keyof CellBooks) => all.reduce((total, books) => total + books[name], 0n);
  return {
    wallets: sum('wallets'),
    balance: sum('balance'),
    owed: sum('owed'),
    moved_in: sum('moved_in'),
    moved_out: sum('moved_out'),
    owed_in: sum('owed_in'),
    owed_out: sum('owed_out'),
  };
}
