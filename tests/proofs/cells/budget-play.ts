// Monthly budgets of API keys over three cells, message by message.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { HoldRequest } from '../../../packages/service/src/kernel/calls/hold.ts';
import type { KeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { arrive, type BudgetCells, type Cell, CELLS, HOME, type Message } from './budget-cells.ts';
import { endOf } from '../../support/ledger-database.ts';

type Step =
  | { readonly kind: 'call'; readonly cell: Cell; readonly least: number; readonly more: number }
  | { readonly kind: 'end'; readonly at: number; readonly part: number }
  | { readonly kind: 'ask'; readonly cell: Cell; readonly wanted: number }
  | { readonly kind: 'recall' }
  | { readonly kind: 'budget'; readonly budget: number }
  | { readonly kind: 'deliver'; readonly at: number; readonly again: boolean }
  | { readonly kind: 'lose'; readonly at: number };

const cell = fc.constantFrom(...CELLS);
const borrower = fc.constantFrom(...CELLS.filter((name) => name !== HOME));
const at = fc.nat(1_000);
const deliver = fc.record({ kind: fc.constant('deliver' as const), at, again: fc.boolean() });
const makeCall = fc.record({
  kind: fc.constant('call' as const),
  cell,
  least: fc.integer({ min: 1, max: 12 }),
  more: fc.nat(20),
});
/** Calls, and messages of which each may be lost, late or repeated. */
export const budgetSteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { arbitrary: makeCall, weight: 5 },
    {
      arbitrary: fc.record({ kind: fc.constant('end' as const), at, part: fc.double({ min: 0, max: 1, noNaN: true }) }),
      weight: 3,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        cell: borrower,
        wanted: fc.integer({ min: 1, max: 60 }),
      }),
      weight: 3,
    },
    { arbitrary: deliver, weight: 7 },
    { arbitrary: fc.record({ kind: fc.constant('recall' as const) }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant('lose' as const), at }), weight: 1 },
    {
      arbitrary: fc.record({ kind: fc.constant('budget' as const), budget: fc.integer({ min: 20, max: 200 }) }),
      weight: 1,
    },
  ),
  { minLength: 50, maxLength: 150, size: 'max' },
);

/** Plays steps, and looks after each whether the budget holds. */
export class BudgetPlay {
  readonly #cells: BudgetCells;
  readonly #key: KeyId;
  #budget = 100;
  readonly #messages: Message[] = [];
  readonly #running: { readonly cell: Cell; readonly request: HoldRequest; readonly held: number }[] = [];
  granted = 0;
  delivered = 0;

  constructor(cells: BudgetCells) {
    this.#cells = cells;
    this.#key = cells.newKey();
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'call':
        return this.#call(step);
      case 'end': {
        const [one] = this.#running.splice(step.at % Math.max(1, this.#running.length), 1);
        if (one !== undefined)
          await this.#cells.ledgers[one.cell].settle([endOf(one.request, Math.floor(one.held * step.part))]);
        return;
      }
      case 'ask':
        this.#messages.push(await this.#cells.ask(step.cell, this.#of(), { least: 1, wanted: step.wanted }));
        return;
      case 'recall':
        this.#messages.push(...(await this.#cells.recall(this.#key)));
        return;
      case 'budget':
        this.#budget = step.budget;
        return;
      case 'lose':
        this.#messages.splice(step.at % Math.max(1, this.#messages.length), 1);
        return;
      case 'deliver': {
        const place = step.at % Math.max(1, this.#messages.length);
        const message = this.#messages[place];
        if (message === undefined) return;
        if (!step.again) this.#messages.splice(place, 1);
        const caused = await message.deliver();
        if (caused !== undefined) this.#messages.push(caused);
        this.delivered += 1;
      }
    }
  }

  async #place(by: Cell, request: HoldRequest) {
    return (await this.#cells.ledgers[by].reserve([request]))[0];
  }

  #of() {
    return { key: this.#key, budget: this.#budget };
  }

  async #call({ cell: by, least, more }: Step & { readonly kind: 'call' }): Promise<void> {
    const request = this.#cells.call(by, this.#of(), { least, most: least + more });
    const answer = await this.#place(by, request);
    if (typeof answer !== 'number') return;
    this.#running.push({ cell: by, request, held: answer });
    this.granted += 1;
    const used = await this.used();
    assert.ok(used <= this.#budget, `${used} of ${this.#budget}`);
  }

  async used(): Promise<number> {
    const all = Object.values(await this.#cells.figures(this.#key));
    return all.reduce((sum, { spent, held }) => sum + spent + held, 0);
  }

  async compare(): Promise<void> {
    for (const { allowance, lent } of Object.values(await this.#cells.figures(this.#key))) {
      assert.ok((allowance ?? 0) <= lent, `${allowance} of ${lent}`);
    }
  }

  /** Everything on its way is lost. Then nothing may be lost of the budget. */
  async end(): Promise<void> {
    for (const { cell: by, request } of this.#running) await this.#cells.ledgers[by].settle([endOf(request, 0)]);
    this.#budget = 1_000;
    for (const message of await this.#cells.recall(this.#key)) await arrive(message);
    const left = this.#budget - (await this.used());
    assert.equal(await this.#place('c1', this.#cells.call('c1', this.#of(), left + 1)), 'budget_reached');
    assert.equal(await this.#place('c1', this.#cells.call('c1', this.#of(), left)), left);
  }
}
