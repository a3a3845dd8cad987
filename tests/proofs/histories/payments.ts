import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { askUntilAnswered } from './ask.ts';
import { isTake } from './call-rules.ts';
import type { CreditKind, MoneyAct, TakeKind } from './history-log.ts';
import type { HistoryPlan, WalletPlan } from './plan.ts';
import type { Random } from './random.ts';
import { sleep } from './sleep.ts';

/** The payments of a history: credits and claw-backs, sent twice at once, again later, and out of order. */
export interface Payments {
  readonly acts: readonly MoneyAct[];
  /** Wallets that an operator tried to reinstate. */
  readonly reinstated: ReadonlySet<string>;
  /** The largest cap that each wallet ever had. */
  readonly capsMax: ReadonlyMap<string, number>;
  /** Opens a wallet and books its first credit. */
  readonly open: (wallet: WalletPlan) => Promise<void>;
  /** Goes on until the signal is aborted. */
  readonly run: (over: AbortSignal) => Promise<void>;
  /** Sends everything once more, the latest first. */
  readonly sendAgain: () => Promise<void>;
  readonly setCap: (user: string, cap: number | undefined) => Promise<void>;
  readonly setConnected: (user: string, isConnected: boolean) => Promise<void>;
  readonly reinstate: (user: string, writesOff: boolean) => Promise<void>;
}

interface OpenAct extends MoneyAct {
  readonly answers: string[];
  lostAnswers: number;
  readonly otherAmountAnswers: string[];
}

interface PaymentOptions {
  readonly pool: Pool;
  readonly appId: string;
  readonly plan: HistoryPlan;
  readonly random: Random;
}

export function createPayments(options: PaymentOptions): Payments {
  const { random, pool, appId } = options;
  const acts: OpenAct[] = [];
  const reinstated = new Set<string>();
  const capsMax = new Map<string, number>();
  const ask = (text: string, values: readonly unknown[]) => askUntilAnswered(pool, text, [appId, ...values], () => {});

  async function send(act: OpenAct, amount = act.amount): Promise<void> {
    const answer = await askUntilAnswered(
      pool,
      `select ledger.${isTake(act.kind) ? 'take_back' : 'credit'}($1, $2, $3, $4, $5) as answer`,
      [appId, act.user, act.kind, amount, act.key],
      () => (act.lostAnswers += 1),
    );
    (amount === act.amount ? act.answers : act.otherAmountAnswers).push(String(answer));
  }

  async function book(user: string, kind: CreditKind | TakeKind, amount: number, key: string): Promise<void> {
    // The other kinds under the same key are other acts and must not be mistaken for this one.
    if (acts.some((act) => act.user === user && act.kind === kind && act.key === key)) return;
    const act: OpenAct = { user, kind, key, amount, answers: [], lostAnswers: 0, otherAmountAnswers: [] };
    acts.push(act);
    await Promise.all([send(act), send(act)]); // At once, on two connections.
    if (random.chance(0.3)) await send(act, amount + 1);
  }

  const payments: Payments & { readonly book: typeof book } = {
    acts,
    reinstated,
    capsMax,
    book,
    open: async ({ user, firstCredit, cap }) => {
      if (cap !== undefined) capsMax.set(user, cap);
      await ask('select ledger.open_wallet($1, $2, $3, $4) as answer', [user, 'EUR', cap ?? null]);
      await book(user, 'contract_credit', firstCredit, 'first');
    },
    run: async (over) => {
      for (let index = 0; !over.aborted; index += 1) {
        await actOnce(payments, options, index);
        await sleep(random.whole(50, 500));
      }
    },
    sendAgain: async () => {
      for (const act of acts.toReversed()) await send(act);
    },
    setCap: async (user, cap) => {
      if (cap !== undefined) capsMax.set(user, Math.max(cap, capsMax.get(user) ?? 0));
      await ask('select ledger.set_cap($1, $2, $3) as answer', [user, cap ?? null]);
    },
    setConnected: async (user, isConnected) => {
      await ask('select ledger.set_connected($1, $2, $3) as answer', [user, isConnected]);
    },
    reinstate: async (user, writesOff) => {
      reinstated.add(user);
      await ask('select ledger.reinstate($1, $2, $3) as answer', [user, writesOff]);
    },
  };
  return payments;
}

type Booking = Payments & {
  readonly book: (user: string, kind: CreditKind | TakeKind, amount: number, key: string) => Promise<void>;
};

/** What happens to a wallet of each kind. Random numbers are drawn in the same order for every kind. */
async function actOnce(payments: Booking, { plan, random }: PaymentOptions, index: number): Promise<void> {
  const { user, kind: wallet } = random.pick(plan.wallets.filter(({ kind }) => kind !== 'tight'));
  const key = random.chance(0.3) ? `shared-${Math.floor(index / 2)}` : `key-${index}`;
  const credit = random.pick(['top_up', 'contract_credit', 'funds_reinstated'] as const);
  const take = random.pick(['refund', 'claw_back'] as const);
  const amount = random.whole(1, 60_000);
  const cap = random.chance(0.2) ? 1_900_000 : random.whole(1_000, 150_000);
  const [isTaking, isReinstating, writesOff] = [random.chance(0.6), random.chance(0.4), random.chance(0.5)];
  if (wallet === 'capped') return payments.setCap(user, cap);
  if (wallet === 'flipping') {
    await payments.setConnected(user, false);
    await sleep(amount % 700);
    return payments.setConnected(user, true);
  }
  if (wallet === 'clawed' && isReinstating) return payments.reinstate(user, writesOff);
  if (wallet === 'clawed' && isTaking) return payments.book(user, take, amount * 2, key);
  return payments.book(user, credit, wallet === 'poor' ? 1 + (amount % 6_000) : amount, key);
}
