import assert from 'node:assert/strict';
import { type CallId, type KeyId, newCallId } from '../../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import type { LedgerUnderTest } from './ledger-under-test.ts';
import { endOf, holdOf } from '../../support/ledger-database.ts';
import { LedgerModel, type ModelRequest } from './ledger-model.ts';
import { AMOUNT_MAX, BUDGET_MAX, type NewCall, type Step, WALLETS, type Which } from './ledger-steps.ts';

/** The ledger and its model, side by side, on separate wallets. */
export class History {
  readonly #ledger: LedgerUnderTest;
  readonly #model = new LedgerModel();
  readonly #users: readonly string[];
  /** What each key with a budget may spend in a month. */
  readonly #limits: Map<KeyId, number>;
  readonly #requests: ModelRequest[] = [];
  #instances: bigint[] = [];
  #pastMonths = 0;

  /** `keys` is the number of keys that have a monthly budget. */
  constructor(ledger: LedgerUnderTest, name: string, keyCount: number) {
    this.#ledger = ledger;
    this.#users = Array.from({ length: WALLETS }, (_, index) => `${name}-${index}`);
    const keys = Array.from({ length: keyCount }, (_, index) => `key_${name}_${index}` as KeyId);
    this.#limits = new Map(keys.map((key) => [key, BUDGET_MAX / 2]));
  }

  async begin(): Promise<void> {
    this.#instances = [await this.#ledger.addInstance(), await this.#ledger.addInstance()];
    for (const user of this.#users) {
      await this.#ledger.open(user, 0);
      this.#model.open(user, undefined);
    }
    for (const user of this.#users) {
      const first = { kind: 'top_up', amount: 2 * AMOUNT_MAX, key: 99 } as const;
      await this.take({ do: 'credit', wallet: this.#users.indexOf(user), ...first });
    }
  }

  /** Takes one step in both and compares the answers, then every wallet, then the budgets and the books. */
  async take(taken: Step): Promise<void> {
    await this.#perform(taken);
    for (const user of this.#users) {
      const { balance, held, openStreams, capMonth, capSpent, shortfall, isSuspended } =
        await this.#ledger.wallet(user);
      const spent = capMonth.startsWith('19') ? 0 : capSpent; // The month is over, see `#beginMonth`.
      const found = { balance, held, openStreams, spent, shortfall, isSuspended };
      assert.deepEqual(found, this.#model.figures(user), `wallet ${user} after ${taken.do}`);
    }
    const budgets = await this.#ledger.budgets([...this.#limits.keys()]);
    for (const [key, found] of budgets)
      assert.deepEqual(found, this.#model.budget(key), `budget of ${key} after ${taken.do}`);
    assert.deepEqual(await this.#ledger.differences(), [], `books after ${taken.do}`);
  }

  /** What developers read of a user: all receipts together, without reading one of them. */
  async compareSpent(): Promise<void> {
    for (const user of this.#users) {
      await this.#ledger.setConnected(user, true);
      const { read, added } = await this.#ledger.spent(user);
      assert.deepEqual(read, added, user);
    }
  }

  async #perform(taken: Step): Promise<void> {
    switch (taken.do) {
      case 'reserve':
        return this.#reserve(taken.instance, this.#newCalls(taken.calls));
      case 'reserve again':
        return this.#reserve(taken.instance, this.#callsAt(taken.call));
      case 'settle':
        return this.#settle(taken.ends);
      case 'turn':
        return this.#turn(taken);
      case 'drain':
        return this.#drain(this.#callsAt(taken.call));
      case 'credit':
      case 'take back':
        return this.#move(taken);
      case 'fence':
        return this.#fence(taken.instance);
      case 'reinstate': {
        const user = this.#userOf(taken.wallet);
        const expected = this.#model.reinstate(user, taken.writesOff);
        return assert.equal(await this.#ledger.reinstate(user, taken.writesOff), expected);
      }
      case 'cap': {
        const user = this.#userOf(taken.wallet);
        this.#model.set(user, { cap: taken.cap });
        return assert.ok(await this.#ledger.setCap(user, taken.cap));
      }
      case 'connect': {
        const user = this.#userOf(taken.wallet);
        this.#model.set(user, { isConnected: taken.isConnected });
        return assert.ok(await this.#ledger.setConnected(user, taken.isConnected));
      }
      case 'budget':
        return void (this.#limits.size > 0 && this.#limits.set(this.#keyAt(taken.key), taken.limit));
      case 'month':
        return this.#beginMonth(this.#userOf(taken.wallet));
      case 'change cell':
        return this.#changeCell(taken);
    }
  }

  async #reserve(instanceIndex: number, requests: readonly ModelRequest[]): Promise<void> {
    if (requests.length === 0) return;
    const instance = this.#instances[instanceIndex] ?? 0n;
    const isNew = requests.map((one) => !this.#requests.includes(one));
    this.#requests.push(...requests.filter((_, at) => isNew[at]));
    const expected = this.#model.reserve(instance, requests);
    const holds = requests.map(holdFor);
    if (expected === undefined) return assert.rejects(this.#ledger.reserve(holds, instance), { code: '55000' });
    assert.deepEqual(await this.#ledger.reserve(holds, instance), expected);
    // A repeated call keeps its hold, and the budget may have been raised and used since.
    await this.#checkAdmitted(
      requests.filter((_, at) => isNew[at]),
      expected.filter((_, at) => isNew[at]),
    );
  }

  /** CP-08: a call that was just admitted has not overspent its budget. */
  async #checkAdmitted(requests: readonly ModelRequest[], answers: readonly (string | number)[]): Promise<void> {
    const admitted = requests.filter(({ budget }, at) => budget !== undefined && typeof answers[at] === 'number');
    if (admitted.length === 0) return;
    const budgets = await this.#ledger.budgets([...this.#limits.keys()]);
    for (const { call, budget } of admitted) {
      const { spent = 0, held = 0 } = budgets.get(budget?.key as KeyId) ?? {};
      assert.ok(spent + held <= (budget?.limit ?? 0), `${call} overspends ${budget?.key}`);
    }
  }

  async #drain(calls: readonly ModelRequest[]): Promise<void> {
    for (const one of calls) this.#model.drain(one.call);
    await this.#ledger.drain(calls.map((one) => ({ callId: one.call as CallId })));
  }

  async #settle(ends: readonly { readonly call: Which; readonly charge: number }[]): Promise<void> {
    const charged = this.#chosen(ends);
    if (charged.length === 0) return;
    assert.deepEqual(await this.#ledger.settle(charged.map(endFor)), this.#model.settle(charged));
  }

  /** Ends calls and places holds at once. The ledger must answer as if it had settled first. */
  async #turn({ instance: index, ends, calls }: Extract<Step, { do: 'turn' }>): Promise<void> {
    const instance = this.#instances[index] ?? 0n;
    const charged = this.#chosen(ends);
    const requests = this.#newCalls(calls);
    const settled = this.#model.settle(charged);
    const placed = this.#model.reserve(instance, requests);
    assert.deepEqual(await this.#ledger.turn(charged.map(endFor), requests.map(holdFor), instance), {
      settled,
      placed,
    });
    this.#requests.push(...requests);
    await this.#checkAdmitted(requests, placed ?? []);
  }

  /** Each call occurs once in a batch. */
  #chosen(ends: readonly { readonly call: Which; readonly charge: number }[]) {
    const chosen = ends.flatMap(({ call: which, charge }) =>
      this.#callsAt(which).map((one) => [one.call, charge] as const),
    );
    return [...new Map(chosen)].map(([one, charge]) => ({ call: one, charge }));
  }

  /**
   * In a batch, all calls of a wallet are of keys with a budget, or none is: a turn places those without a budget first, and
   * the model would have to know. So it is with calls that may be repeated.
   */
  #newCalls(calls: readonly NewCall[]): readonly ModelRequest[] {
    return calls.map(({ wallet: index, least, more, streamsMax, key, attempt }) => {
      const first = calls.find((one) => one.wallet === index);
      const user = this.#userOf(index);
      const budget = first?.key === undefined ? undefined : this.#budgetAt(key ?? first.key);
      const repeats = first?.attempt === undefined ? undefined : `${user} ${attempt ?? first.attempt}`;
      return { call: newCallId(), user, least, most: least + more, streamsMax, budget, attempt: repeats };
    });
  }

  #budgetAt(index: number): ModelRequest['budget'] {
    if (this.#limits.size === 0) return undefined;
    const key = this.#keyAt(index);
    return { key, limit: this.#limits.get(key) ?? 0 };
  }

  async #move(taken: Extract<Step, { do: 'credit' | 'take back' }>): Promise<void> {
    const user = this.#userOf(taken.wallet);
    const key = `key-${taken.key}`;
    const { kind: actKind, amount: moved } = taken;
    const act = { kind: actKind, amount: moved, key };
    if (taken.do === 'credit') {
      const answer = await this.#ledger.credit(user, moved, { kind: taken.kind, key });
      return assert.equal(answer, this.#model.credit(user, act));
    }
    const answer = await this.#ledger.takeBack(user, moved, { kind: taken.kind, key });
    assert.equal(answer, this.#model.takeBack(user, act));
  }

  /** The lease of a process runs out. Half of the time the process goes on under its old id for a while. */
  async #fence(index: number): Promise<void> {
    const instance = this.#instances[index] ?? 0n;
    assert.equal(await this.#ledger.fence(instance), this.#model.fence(instance));
    const late = { wallet: 0, least: 1, more: 0, streamsMax: 0, key: 0, attempt: undefined } as const;
    await this.#reserve(index, this.#newCalls([late]));
    this.#instances[index] = await this.#ledger.addInstance();
  }

  /** Moves everything so far into a month of the last century, a different one each time. */
  async #beginMonth(user: string): Promise<void> {
    this.#model.beginMonth(user);
    this.#pastMonths += 1;
    await this.#ledger.beginMonth(user, `19${10 + this.#pastMonths}-01-01`);
  }

  /** The model knows of no cells, so a wallet answers as before after each move, and after one that was given up. One that holds money stays where it is. */
  async #changeCell({ wallet: index, killedAt, isGivenUp }: Extract<Step, { do: 'change cell' }>): Promise<void> {
    const user = this.#userOf(index);
    const outcome = await this.#ledger.changeCell(user, { killedAt, isGivenUp });
    if (this.#model.figures(user).held > 0) assert.notEqual(outcome, 'moved', `${user} has moved with its holds`);
  }

  #keyAt(index: number): KeyId {
    return [...this.#limits.keys()][index] ?? ('' as KeyId);
  }

  #userOf(index: number): string {
    return this.#users[index] ?? '';
  }

  #callsAt({ back, isOpen }: Which): readonly ModelRequest[] {
    const calls = isOpen ? this.#requests.filter((one) => this.#model.isHeld(one.call)) : this.#requests;
    return calls.slice(-1 - back).slice(0, 1);
  }
}

const holdFor = ({ user, call: callId, budget, attempt, ...rest }: ModelRequest) =>
  holdOf(user, rest, {
    ...rest,
    callId: callId as CallId,
    idempotencyKey: attempt === undefined ? undefined : attemptFor(Buffer.from(attempt)),
    budget: budget && { key: budget.key as KeyId, micros: micros(BigInt(budget.limit)) },
  });

const attemptFor = (digest: Buffer) => ({ digest, body: digest, joins: true });

const endFor = ({ call: callId, charge }: { readonly call: string; readonly charge: number }) =>
  endOf({ callId: callId as CallId }, charge);
