// The ledgers of three cells, of which the first lends of the budgets of API keys.
import { insertOwnCell } from '../../../packages/service/src/cells/topology/queries.ts';
import type { HoldRequest } from '../../../packages/service/src/kernel/calls/hold.ts';
import type { KeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import {
  type BudgetMonth,
  endRecall,
  giveBackAllowance,
  type GivenBackRow,
  lendBudget,
  type LendRequest,
  type LentRow,
  recallAllowances,
  type RecallRow,
  selectBudgetUse,
  takeAllowance,
} from '../../../packages/service/src/ledger/budgets/queries.ts';
import { createLedgerDatabase, holdOf, type LedgerDatabase } from '../../support/ledger-database.ts';
import { sql } from '../../support/sql.ts';

export const CELLS = ['c1', 'c2', 'c3'] as const;
export type Cell = (typeof CELLS)[number];
export const HOME = 'c1';

/** What is under way between two cells. `deliver` gives what it causes. */
export interface Message {
  readonly about: string;
  readonly deliver: () => Promise<Message | undefined>;
}

interface Figures {
  readonly spent: number;
  readonly held: number;
  readonly lent: number;
  readonly allowance: number | null;
}

export interface BudgetCells {
  readonly ledgers: Readonly<Record<Cell, LedgerDatabase>>;
  readonly newKey: () => KeyId;
  /** A request of a user of the cell, of the same name as it, who is rich. */
  readonly call: (
    cell: Cell,
    of: { readonly key: KeyId; readonly budget: number },
    amount: Parameters<typeof holdOf>[1],
  ) => HoldRequest;
  /** Reads the figures of this month, by cell. `lent` is what the home has lent that cell. */
  readonly figures: (key: KeyId) => Promise<Readonly<Record<Cell, Figures>>>;
  /** The question of a cell, as it is sent. */
  readonly ask: (
    cell: Cell,
    of: { readonly key: KeyId; readonly budget: number },
    amount: { readonly least: number; readonly wanted: number },
  ) => Promise<Message>;
  /** The messages by which the home takes back. */
  readonly recall: (key: KeyId) => Promise<readonly Message[]>;
  readonly differences: () => Promise<readonly unknown[]>;
  readonly close: () => Promise<void>;
}

export async function openBudgetCells(): Promise<BudgetCells> {
  const [c1, c2, c3] = await Promise.all(CELLS.map(() => createLedgerDatabase()));
  if (c1 === undefined || c2 === undefined || c3 === undefined) throw new Error('There are three cells.');
  const ledgers = { c1, c2, c3 };
  for (const cell of CELLS) {
    const { database, open } = ledgers[cell];
    await open(cell, 1_000_000_000);
    await insertOwnCell(database.owner, cell, undefined);
    await sql(database)`update cells.own set borrows_budgets = cell <> ${HOME}`;
  }
  let keys = 0;
  return {
    ledgers,
    newKey: () => `key_${(keys += 1)}` as KeyId,
    call: (cell, { key, budget }, amount) => holdOf(cell, amount, { budget: { key, micros: micros(BigInt(budget)) } }),
    figures: (key) => figuresOf(ledgers, key),
    ask: async (cell, { key, budget }, { least, wanted }) => {
      const { month, spent, held, allowance, number } = await selectBudgetUse(ledgers[cell].live, key);
      const amounts = { budget: BigInt(budget), least: BigInt(least), wanted: BigInt(wanted) };
      return question(ledgers, cell, { key, month, ...amounts, used: spent + held, spent, allowance, number });
    },
    recall: async (key) => {
      const rows = await recallAllowances(ledgers[HOME].live, key, null, null);
      return rows.map((row) => request(ledgers, key, row));
    },
    differences: async () => (await Promise.all(CELLS.map((cell) => ledgers[cell].differences()))).flat(),
    close: async () => {
      for (const cell of CELLS) await ledgers[cell].close();
    },
  };
}

type Ledgers = BudgetCells['ledgers'];

const question = (ledgers: Ledgers, cell: Cell, asked: LendRequest): Message => ({
  about: `${cell} asks`,
  deliver: async () => answer(ledgers, cell, { asked, lent: await lendBudget(ledgers[HOME].live, cell, asked) }),
});

interface Lent {
  readonly asked: LendRequest;
  readonly lent: LentRow;
}

const answer = (ledgers: Ledgers, cell: Cell, { asked, lent }: Lent): Message => ({
  about: `${cell} is lent`,
  deliver: async () => {
    await takeAllowance(ledgers[cell].live, { ...asked, ...lent }, lent.granted < asked.wanted);
    return undefined;
  },
});

const request = (ledgers: Ledgers, key: KeyId, row: RecallRow): Message => ({
  about: `${row.cell} is asked back`,
  deliver: async () => {
    const given = await giveBackAllowance(ledgers[row.cell as Cell].live, { key, ...row });
    return given.is_given_back ? back(ledgers, { key, month: row.month }, { ...row, ...given }) : undefined;
  },
});

const back = (ledgers: Ledgers, of: BudgetMonth, given: RecallRow & GivenBackRow): Message => ({
  about: `${given.cell} gives back`,
  deliver: async () => {
    await endRecall(ledgers[HOME].live, of, [given]);
    return undefined;
  },
});

/** Delivers a message and what it causes. */
export async function arrive(message: Message | undefined): Promise<void> {
  for (let next = message; next !== undefined; ) next = await next.deliver();
}

async function figuresOf(ledgers: Ledgers, key: KeyId): Promise<Readonly<Record<Cell, Figures>>> {
  const [c1, c2, c3] = await Promise.all(CELLS.map((cell) => figuresIn(ledgers, cell, key)));
  if (c1 === undefined || c2 === undefined || c3 === undefined) throw new Error('There are three cells.');
  return { c1, c2, c3 };
}

async function figuresIn(ledgers: Ledgers, cell: Cell, key: KeyId): Promise<Figures> {
  const month = 'month = db.current_month()';
  const [of, lent] = await Promise.all([
    ledgers[cell].database.owner.query<Omit<Figures, 'lent'>>(
      `select spent_micros::int as spent, held_micros::int as held, allowance_micros::int as allowance
       from ledger.key_budgets where key_id = $1 and ${month}`,
      [key],
    ),
    ledgers[HOME].database.owner.query<{ lent: number }>(
      `select lent_micros::int as lent from ledger.allowances where key_id = $1 and cell = $2 and ${month}`,
      [key, cell],
    ),
  ]);
  return { spent: 0, held: 0, allowance: null, ...of.rows[0], lent: lent.rows[0]?.lent ?? 0 };
}
