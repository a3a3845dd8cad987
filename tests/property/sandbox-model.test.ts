import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import { insertAnswer } from '../../packages/service/src/idempotency/queries.ts';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import type { KeyId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { reserveSandboxHolds, settleSandboxHolds } from '../../packages/service/src/sandbox/holds/queries.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase, WAYS } from '../support/ledger-database.ts';
import { makeSandboxWallet } from '../support/sandbox-wallet.ts';

// Real money (judged, without turns) and play money have one text, and lines of their own. Both must give the same answers (decision 4).

const RUNS = 15;
const STEPS_MAX = 60;
const WALLETS = 3;
const KEYS = 3;
const AMOUNT_MAX = 60;
const BALANCE = 6 * AMOUNT_MAX;
const BUDGET_MAX = 30 * AMOUNT_MAX; // Of a call: a key's limit may change from one to the next.
const TOKENS = 15;
const KEPT_MS = 3_600_000;
const SHRINK_MS_MAX = 60_000; // After that, the smallest history found so far is reported.
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const amount = fc.integer({ min: 1, max: AMOUNT_MAX });
const wallet = fc.nat(WALLETS - 1);
const often = (fact: boolean) => fc.constantFrom(fact, fact, fact, !fact);
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const key = fc.record({ name: fc.nat(KEYS - 1), joins: fc.boolean(), isOther: often(false) });
const request = fc.record({
  wallet,
  least: amount,
  more: fc.nat(AMOUNT_MAX),
  isStream: often(false),
  slots: fc.constantFrom(2, 3, 6),
  key: fc.option(key, { nil: undefined }),
  budget: fc.option(fc.record({ of: fc.nat(1), limit: fc.integer({ min: 1, max: BUDGET_MAX }) }), { nil: undefined }),
});
/** Picks one of the open calls, counted from the latest. */
const ending = fc.record({
  back: fc.nat(9),
  charge: fc.nat(2 * AMOUNT_MAX),
  isUnkept: fc.boolean(),
  isKept: often(false),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: kind('reserve'), calls: fc.array(request, { minLength: 1, maxLength: 8 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: kind('reserve again'), backs: fc.uniqueArray(fc.nat(9), { maxLength: 3 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: kind('settle'),
      ends: fc.uniqueArray(ending, { minLength: 1, maxLength: 6, selector: ({ back }) => back }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: kind('cap'), wallet, cap: fc.option(fc.nat(BALANCE), { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ do: kind('suspend'), wallet, isSuspended: often(false) }) },
  { weight: 1, arbitrary: fc.record({ do: kind('month'), wallet }) },
);
type Request = typeof request extends fc.Arbitrary<infer Value> ? Value : never;
type End = typeof ending extends fc.Arbitrary<infer Value> ? Value : never;
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

let ledger: LedgerDatabase;
let sandbox: Pool;
let histories = 0;

before(async () => {
  ledger = await createLedgerDatabase();
  sandbox = createPool({ url: ledger.database.url, role: 'sandbox', connectionsMax: 1, log: createLog('silent') });
});

after(async () => {
  await sandbox.end();
  await ledger.close();
});

/** One call in both moneys. The ids differ, because one table keeps the answers of both. */
interface Pair {
  readonly live: HoldRequest;
  readonly play: HoldRequest;
}

type Side = keyof Pair;
type Row = Awaited<ReturnType<typeof WAYS.judged.reserve>>[number];

class History {
  readonly #users: readonly string[];
  #calls: readonly Pair[] = [];
  #open: readonly Pair[] = [];
  #pastMonths = 0;

  constructor(name: string) {
    this.#users = Array.from({ length: WALLETS }, (_, index) => `${name}-${index}`);
  }

  async begin(): Promise<void> {
    for (const user of this.#users) {
      await ledger.open(user, BALANCE);
      await makeSandboxWallet(ledger.database, { appId: APP }, { user, balance: BALANCE });
    }
  }

  /** Takes one step with both moneys and compares the answers, then the wallets and their holds. */
  async take(taken: Step): Promise<void> {
    await this.#perform(taken);
    const [live, play] = [await this.#state('live'), await this.#state('play')];
    assert.deepEqual(play, live, `after ${taken.do}`);
  }

  async #perform(taken: Step): Promise<void> {
    switch (taken.do) {
      case 'reserve':
        return this.#reserve(this.#pairsOf(taken.calls));
      case 'reserve again':
        return this.#reserve(this.#openAt(taken.backs));
      case 'settle':
        return this.#settle(taken.ends);
      case 'cap':
        return this.#set(taken.wallet, `cap_micros = ${taken.cap ?? 'null'}`);
      case 'suspend':
        return this.#set(taken.wallet, `is_suspended = ${taken.isSuspended}`);
      case 'month':
        return this.#beginMonth(taken.wallet);
    }
  }

  /** Real money judges wallets in their order. Which of two earlier calls with its key a retry finds is not defined. */
  #pairsOf(requests: readonly Request[]): readonly Pair[] {
    const isOfKey = (one: Request) => (other: Request) =>
      one.key !== undefined && other.wallet === one.wallet && other.key?.name === one.key.name;
    const sorted = requests.toSorted((one, other) => one.wallet - other.wallet);
    const few = sorted.filter((one, place) => sorted.slice(0, place).filter(isOfKey(one)).length < 2);
    return few.map((one) => ({ live: this.#requestOf('live', one), play: this.#requestOf('play', one) }));
  }

  #requestOf(
    side: Side,
    { wallet: index, least, more, isStream, slots, key: named, budget: line }: Request,
  ): HoldRequest {
    const user = this.#users[index] ?? '';
    const limits = { streamsMax: isStream ? slots : 0, callsMax: isStream ? 0 : slots };
    const idempotencyKey = named && {
      digest: Buffer.from(`${side} ${user} ${named.name}`),
      body: Buffer.from(named.isOther ? 'other' : 'body'),
      joins: named.joins,
    };
    const budget = line && { key: this.#keyOf(line.of), micros: micros(BigInt(line.limit)) };
    return holdOf(user, { least, most: least + more }, { ...limits, idempotencyKey, budget });
  }

  #keyOf(line: number): KeyId {
    return `${this.#users[0]}-${line}` as KeyId;
  }

  async #reserve(pairs: readonly Pair[]): Promise<void> {
    if (pairs.length === 0) return;
    this.#calls = [...this.#calls, ...pairs.filter((pair) => !this.#calls.includes(pair))];
    const [live, play] = [pairs.map((pair) => pair.live), pairs.map((pair) => pair.play)];
    const expected = this.#answersOf('live', live, await WAYS.judged.reserve(ledger.live, ledger.instance, live));
    const rows = await reserveSandboxHolds(sandbox, ledger.instance, micros(BigInt(BALANCE)), play);
    assert.deepEqual(this.#answersOf('play', play, rows), expected);
    const placed = pairs.filter((_, place) => expected[place]?.outcome === 'granted');
    this.#open = [...this.#open, ...placed.filter((pair) => !this.#open.includes(pair))];
  }

  #answersOf(side: Side, requests: readonly HoldRequest[], rows: readonly Row[]) {
    return requests.map(({ callId }) => {
      const row = rows.find(({ call_id: id }) => id === callId);
      assert.ok(row !== undefined && row.outcome !== 'call_ended');
      const { outcome, granted, earlier } = row;
      return { outcome, granted, earlier: this.#calls.findIndex((pair) => pair[side].callId === earlier) };
    });
  }

  async #settle(ends: readonly End[]): Promise<void> {
    const ended = ends.flatMap((end) => this.#openAt([end.back]).map((pair) => ({ ...end, pair })));
    const chosen = ended.filter(({ pair }, place) => ended.findIndex((other) => other.pair === pair) === place);
    if (chosen.length === 0) return;
    for (const end of chosen) if (isKept(end)) await keep(end.pair);
    const settled = await WAYS.judged.settle(
      ledger.live,
      chosen.map((end) => ({ ...endOf(end.pair.live, end.charge), isUnkept: !isKept(end) && end.isUnkept })),
    );
    const settledPlay = await settleSandboxHolds(
      sandbox,
      chosen.map((end) => {
        const { callId } = end.pair.play;
        const tokens = end.charge > 0 ? TOKENS : 0;
        return { callId, charge: micros(BigInt(end.charge)), tokens, isUnkept: !isKept(end) && end.isUnkept };
      }),
    );
    for (const { pair } of chosen) {
      const expected = settled.find(({ call_id: id }) => id === pair.live.callId);
      const found = settledPlay.find(({ call_id: id }) => id === pair.play.callId);
      assert.ok(expected !== undefined && found !== undefined);
      assert.deepEqual([found.charged, found.is_joined], [expected.charged, expected.is_joined]);
      if (!expected.is_joined) this.#open = this.#open.filter((other) => other !== pair);
    }
  }

  async #set(index: number, assignment: string): Promise<void> {
    for (const schema of ['ledger', 'sandbox']) {
      const text = `update ${schema}.wallets set ${assignment} where user_id = $1`;
      await ledger.database.owner.query(text, [this.#users[index]]);
    }
  }

  /** Moves everything so far into a month of the last century, a different one each time. */
  async #beginMonth(index: number): Promise<void> {
    this.#pastMonths += 1;
    const month = `19${10 + this.#pastMonths}-01-01`;
    for (const schema of ['ledger', 'sandbox']) {
      // What the old month held counts for no budget any more.
      await ledger.database.owner.query(
        `with gone as (
           update ${schema}.holds h set budget_key = null from ${schema}.holds o where h.call_id = o.call_id
             and h.month > '2000-01-01' and h.wallet_id = (select wallet_id from ${schema}.wallets where user_id = $1)
           returning o.budget_key, o.amount_micros
         ) update ${schema}.key_budgets b set held_micros = b.held_micros - g.amount
         from (select budget_key, sum(amount_micros) as amount from gone group by budget_key) g where b.key_id = g.budget_key`,
        [this.#users[index]],
      );
      const text = `update ${schema}.holds set month = '${month}'
        where month > '2000-01-01' and wallet_id = (select wallet_id from ${schema}.wallets where user_id = $1)`;
      await ledger.database.owner.query(text, [this.#users[index]]);
    }
    await this.#set(index, `cap_month = case when cap_month > '2000-01-01' then '${month}' else cap_month end`);
  }

  /** The wallets, with the figures of this month, and the holds in the order of the calls. */
  async #state(side: Side) {
    const schema = side === 'live' ? 'ledger' : 'sandbox';
    const { owner } = ledger.database;
    const { rows: wallets } = await owner.query(
      `select user_id, balance_micros, held_micros, open_streams, open_calls,
         case when cap_month > '2000-01-01' then cap_spent_micros else 0 end as spent,
         case when cap_month > '2000-01-01' then cap_held_micros else 0 end as capped
       from ${schema}.wallets where user_id = any ($1) order by user_id`,
      [this.#users],
    );
    const { rows: holds } = await owner.query(
      `select array_position($1, h.call_id) as place, h.amount_micros, h.month > '2000-01-01' as is_new, h.is_stream, h.is_joined
       from ${schema}.holds h where h.call_id = any ($1) order by place`,
      [this.#calls.map((pair) => pair[side].callId)],
    );
    const { rows: budgets } = await owner.query(
      `select key_id, spent_micros, held_micros from ${schema}.key_budgets where key_id = any ($1) order by key_id`,
      [[this.#keyOf(0), this.#keyOf(1)]],
    );
    return { wallets, holds, budgets };
  }

  #openAt(backs: readonly number[]): readonly Pair[] {
    return backs.flatMap((back) => this.#open.slice(-1 - back).slice(0, 1)).filter(isFirst);
  }
}

const isFirst = <Item>(item: Item, place: number, items: readonly Item[]): boolean => items.indexOf(item) === place;

const isKept = ({ isKept: kept, charge, pair }: End & { readonly pair: Pair }): boolean =>
  kept && charge > 0 && pair.live.idempotencyKey !== undefined;

async function keep(pair: Pair): Promise<void> {
  for (const { callId, idempotencyKey } of [pair.live, pair.play]) {
    assert.ok(idempotencyKey !== undefined);
    const { digest, body } = idempotencyKey;
    await insertAnswer(ledger.live, {
      callId,
      digest,
      body,
      sealed: Buffer.from('sealed'),
      charged: undefined,
      lifetimeMs: KEPT_MS,
    });
  }
}

async function keepsUp(steps: readonly Step[]): Promise<void> {
  const history = new History(`history-${(histories += 1)}`);
  await history.begin();
  for (const taken of steps) await history.take(taken);
}

test(`SB-02 ${RUNS} histories of up to ${STEPS_MAX} steps match real money`, async (t) => {
  t.diagnostic(`seed ${seed}: again with PURSER_TEST_SEED=${seed}`);
  const steps = fc.array(step, { minLength: 1, maxLength: STEPS_MAX, size: 'max' });
  await fc.assert(fc.asyncProperty(steps, keepsUp), { seed, numRuns: RUNS, interruptAfterTimeLimit: SHRINK_MS_MAX });
});
