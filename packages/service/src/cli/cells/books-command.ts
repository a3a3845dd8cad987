import { readBooksOfCells } from '#app/cells/books.ts';
import { CellAway } from '#kernel/faults/cell-away.ts';
import { CommandError } from '#cli/terminal/command-error.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Secrets } from '#kernel/crypto/keys.ts';
import type { CellBooks } from '#ledger/moving/queries.ts';

/**
 * `cells books` prints the money in each cell, and whether what has left cells has arrived in others. The exit status
 * is 1 if there is a difference. Throws `CommandError` if a cell does not answer.
 */
export async function printBooks(owner: Pool, secrets: Secrets): Promise<number> {
  const books = await readBooksOfCells(owner, secrets).catch(told);
  if (books === undefined) throw new CommandError('This database is no cell.');
  const { all, moving } = books;
  for (const [name, its] of all) console.log(`${name}: ${inWords(its)}`);
  const sum = sumOf(all.map(([, its]) => its));
  console.log(`all cells: ${inWords(sum)}`);
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
