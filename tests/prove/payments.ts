import type { Pool } from '../../packages/service/src/db/pool.ts';
import type { CreditKind, MoneyAct, TakeKind } from './history-log.ts';
import type { HistoryPlan } from './plan.ts';
import type { Random } from './random.ts';

/** The payment side of a history: credits and claw-backs, sent twice at once, again later, and out of order. */
export interface Payments {
  readonly acts: readonly MoneyAct[];
  /** Wallets that somebody asked to reinstate. */
  readonly reinstated: ReadonlySet<string>;
  /** Goes on until the signal is aborted. */
  readonly run: (over: AbortSignal) => Promise<void>;
  /** Sends everything once more, the latest first. */
  readonly sendAgain: () => Promise<void>;
  readonly credit: (user: string, amount: number, key: string) => Promise<void>;
  /** Runs one statement until the database has answered it. */
  readonly ask: (text: string, values: readonly unknown[]) => Promise<unknown>;
}

interface OpenAct extends MoneyAct {
  readonly answers: string[];
  lostAnswers: number;
  readonly otherAmountAnswers: string[];
}

const RETRY_MS = 150;
const RETRIES_MAX = 400;
/** The lock was not to be had: nothing was done, and nothing is lost. */
const LOCK_NOT_AVAILABLE = '55P03';

interface PaymentOptions {
  readonly pool: Pool;
  readonly appId: string;
  readonly plan: HistoryPlan;
  readonly random: Random;
}

export function createPayments({ pool, appId, plan, random }: PaymentOptions): Payments {
  const acts: OpenAct[] = [];
  const reinstated = new Set<string>();

  async function ask(text: string, values: readonly unknown[], onLost: () => void = () => {}): Promise<unknown> {
    for (let attempt = 0; attempt < RETRIES_MAX; attempt += 1) {
      try {
        const { rows } = await pool.query<{ answer: unknown }>(text, [appId, ...values]);
        return rows[0]?.answer;
      } catch (fault) {
        const isHarmless = fault instanceof Error && 'code' in fault && fault.code === LOCK_NOT_AVAILABLE;
        if (!isHarmless) onLost();
        await sleep(RETRY_MS);
      }
    }
    throw new Error('The database did not answer a payment.');
  }

  async function send(act: OpenAct, amount = act.amount): Promise<void> {
    const isTake = act.kind === 'refund' || act.kind === 'claw_back';
    const answer = await ask(
      `select ledger.${isTake ? 'take_back' : 'credit'}($1, $2, $3, $4, $5) as answer`,
      [act.user, act.kind, amount, act.key],
      () => (act.lostAnswers += 1),
    );
    (amount === act.amount ? act.answers : act.otherAmountAnswers).push(String(answer));
  }

  async function book(user: string, kind: CreditKind | TakeKind, amount: number, key: string): Promise<void> {
    const act: OpenAct = { user, kind, key, amount, answers: [], lostAnswers: 0, otherAmountAnswers: [] };
    acts.push(act);
    await Promise.all([send(act), send(act)]); // At once, on two connections.
    if (random.chance(0.3)) await send(act, amount + 1);
  }

  async function actOnce(index: number): Promise<void> {
    const wallet = random.pick(plan.wallets);
    const { user } = wallet;
    // One key for acts of different kinds: they must not be taken for each other.
    const key = random.chance(0.3) ? `shared-${Math.floor(index / 2)}` : `key-${index}`;
    const kind = random.pick(['top_up', 'contract_credit', 'funds_reinstated'] as const);
    const take = random.pick(['refund', 'claw_back'] as const);
    const amount = random.whole(1, 60_000);
    const cap = random.chance(0.2) ? 1_900_000 : random.whole(1_000, 150_000);
    const [isTaking, isReinstating, writesOff] = [random.chance(0.6), random.chance(0.4), random.chance(0.5)];
    if (wallet.kind === 'capped') await ask('select ledger.set_cap($1, $2, $3) as answer', [user, cap]);
    else if (wallet.kind === 'flipping') {
      await ask('select ledger.set_connected($1, $2, false) as answer', [user]);
      await sleep(100 + (amount % 600));
      await ask('select ledger.set_connected($1, $2, true) as answer', [user]);
    } else if (wallet.kind === 'clawed' && isReinstating) {
      reinstated.add(user);
      await ask('select ledger.reinstate($1, $2, $3) as answer', [user, writesOff]);
    } else if (wallet.kind === 'clawed' && isTaking) {
      const isKnown = acts.some((act) => act.user === user && act.kind === take && act.key === key);
      if (!isKnown) await book(user, take, amount * 2, key);
    } else if (!acts.some((act) => act.user === user && act.kind === kind && act.key === key)) {
      await book(user, kind, wallet.kind === 'poor' ? 1 + (amount % 6_000) : amount, key);
    }
  }

  return {
    acts,
    reinstated,
    ask,
    credit: (user, amount, key) => book(user, 'contract_credit', amount, key),
    run: async (over) => {
      for (let index = 0; !over.aborted; index += 1) {
        await actOnce(index);
        await sleep(random.whole(50, 500));
      }
    },
    sendAgain: async () => {
      for (const act of acts.toReversed()) await send(act);
    },
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
