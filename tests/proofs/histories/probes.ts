import { sentBytesOf } from '../../support/prompt-size.ts';
import type { Books } from './history-log.ts';
import type { Payments } from './payments.ts';
import type { Keys } from './keys.ts';
import { PROBE_MODEL } from './plan.ts';
import { bodyOf, type Seen, sendCall } from './prover-client.ts';
import { FREE_ANSWER, type Provider } from './provider.ts';

interface ProbeOptions {
  readonly url: string;
  readonly keys: Keys;
  readonly seed: number;
  readonly provider: Provider;
  readonly payments: Payments;
  readonly readBooks: () => Promise<Books>;
  /** A wallet's spending this month, by the model's own count. */
  readonly spentOf: (user: string) => number;
  readonly users: readonly string[];
}

/** Returns what was wrong. */
export async function probeAll(options: ProbeOptions): Promise<readonly string[]> {
  return [...(await probeWallets(options)), ...(await probeBudgets(options))];
}

/**
 * Probes that, after a history, each wallet can spend its balance to the last micro and no more. A leaked hold or a
 * lost slot would show as a refusal here.
 */
async function probeWallets(options: ProbeOptions): Promise<readonly string[]> {
  const { payments, users, seed } = options;
  const wrong: string[] = [];
  for (const user of users) {
    await payments.setCap(user, undefined);
    await payments.setConnected(user, true);
    await payments.reinstate(user, true);
    const { wallets } = await options.readBooks();
    const balance = wallets.find((wallet) => wallet.user === user)?.balance ?? 0;
    const judge = async (amount: number, right: string): Promise<void> => {
      const tag = `probe-h${seed}-${user}-${amount}-${right}`;
      const found = await probe(options, user, tag, amount);
      if (found !== undefined && found !== right) {
        wrong.push(`${user} with ${balance}: a call of ${amount} was answered ${found}, not ${right}`);
      }
    };
    await judge(balance + 1, 'PAYMENT_REQUIRED');
    await judge(balance, 'complete');
    const room = Math.min(balance - 1, LEAST_PROBE);
    if (room < 1) continue;
    const spent = options.spentOf(user);
    await payments.setCap(user, spent + room);
    await judge(room + 1, 'APP_SPEND_CAP_EXCEEDED');
    await judge(room, 'complete');
    await payments.setCap(user, undefined);
  }
  return wrong;
}

/** The same for what the budget of each key has left, on a rich wallet (CP-08). */
async function probeBudgets(options: ProbeOptions): Promise<readonly string[]> {
  const { keys, users, seed } = options;
  const wrong: string[] = [];
  const user = users[0] ?? '';
  const { wallets, receipts } = await options.readBooks();
  const balance = wallets.find((wallet) => wallet.user === user)?.balance ?? 0;
  for (const { name, line, budget } of keys.facts()) {
    const spent = receipts.reduce((sum, one) => sum + (one.budgetKey === line ? one.charged : 0), 0);
    const left = Math.max(0, budget - spent);
    const judge = async (amount: number, right: string): Promise<void> => {
      const found = await probe(options, user, `probe-h${seed}-${name}-${amount}-${right}`, amount, name);
      if (found !== undefined && found !== right) {
        wrong.push(`${name} with ${left} left of ${budget}: a call of ${amount} was answered ${found}, not ${right}`);
      }
    };
    await judge(Math.max(left + 1, LEAST_PROBE), 'KEY_BUDGET_EXCEEDED');
    await judge(left, left <= balance ? 'complete' : 'PAYMENT_REQUIRED');
  }
  return wrong;
}

/** This is more than the body alone costs. */
const LEAST_PROBE = 1_000;

/** Sends a call that holds exactly this amount. Undefined if no call is that small. */
async function probe(
  { url, keys, provider }: ProbeOptions,
  user: string,
  tag: string,
  amount: number,
  key?: string,
): Promise<Seen['code']> {
  // A stream, because the size of a plain answer bounds what it may ask for.
  const call = { tag, model: PROBE_MODEL, isStream: true, wantsUsage: false };
  // The limit is no part of what it pays for: the provider gets one of our own.
  const tokens = amount - sentBytesOf(bodyOf({ ...call, outputTokensMax: amount }));
  if (tokens < 1) return undefined;
  const body = bodyOf({ ...call, outputTokensMax: tokens });
  provider.expect(tag, FREE_ANSWER);
  const { ending, code } = await sendCall({
    url,
    key: keys.textOf(key),
    user,
    tag,
    body,
    isStream: true,
    leaveAfterMs: undefined,
  });
  return ending === 'complete' ? 'complete' : (code ?? ending);
}
