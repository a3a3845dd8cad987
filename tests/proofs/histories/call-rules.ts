import {
  type CallFacts,
  type HistoryLog,
  LOWERED,
  type ModelPrice,
  type ProviderFacts,
  type Receipt,
} from './history-log.ts';
import { ceilingOf, chargeOf, ownCount } from './price.ts';

/** WA-10: a lease lasts 15 s and is renewed every second. A process that stood still for less has not lost its holds. */
const FENCED_AFTER_MS = 13_000;
/** A request that takes 10 s to arrive is refused unread, and a process that stands still reads none. */
const TOO_SLOW_AFTER_MS = 9_000;

export interface Violation {
  readonly rule: string;
  readonly about: string;
}

/** What was booked for a call after its hold had been released: a receipt of its own, and what the wallet could not pay. */
export interface LateCharge {
  readonly receipt: Receipt;
  readonly lost: number;
}

interface Judged {
  readonly call: CallFacts;
  readonly receipt: Receipt | undefined;
  readonly late: LateCharge | undefined;
  readonly provider: ProviderFacts | undefined;
  readonly price: ModelPrice;
}

interface Verdict {
  readonly violations: readonly string[];
  /** A whole answer without a charge from a process that stood still past its lease. By WA-10 nothing is charged, then or later. */
  readonly isFreeAfterFence: boolean;
}

/** Checks what one call cost, given how it ended for its client (CC-08 to CC-11, WA-07, WA-10). */
export function judgeCall(judged: Judged): Verdict {
  const { call, receipt, late, provider, price } = judged;
  const violations: string[] = [];
  if ((provider?.asked ?? 0) > 1) violations.push('the provider was asked more than once');
  if (receipt !== undefined && receipt.held > ceilingOf(price, call.bodyBytes, call.outputTokensMax)) {
    violations.push(`the hold of ${receipt.held} is more than the call can cost`);
  }
  if (receipt !== undefined && receipt.charged > receipt.held) violations.push('charged more than its hold');
  if (provider === undefined && ((receipt?.charged ?? 0) > 0 || late !== undefined))
    violations.push('charged, and the provider was never asked');
  violations.push(...judgeLate(judged));
  if (call.ending === 'complete') return judgeComplete(judged, violations);
  if (call.ending === 'mute') violations.push('a stream ended without `[DONE]` and without an error (ER-06)');
  if (call.ending === 'refused') violations.push(...judgeRefused(judged));
  else violations.push(...judgeUnknown(judged));
  return { violations, isFreeAfterFence: false };
}

function judgeComplete({ call, receipt, late, provider, price }: Judged, violations: string[]): Verdict {
  if (provider?.isAnswering !== true) violations.push('a whole answer that the provider did not give');
  if (receipt === undefined) {
    violations.push('an acknowledged answer has no receipt: its charge is lost');
    return { violations, isFreeAfterFence: false };
  }
  if (receipt.outcome === 'expired') {
    const booked = late === undefined ? 0 : late.receipt.charged + late.lost;
    if (call.charged !== undefined && call.charged !== booked) {
      violations.push(`told ${call.charged}, booked ${booked} after its hold was released (WA-10)`);
    }
    const costs = provider === undefined ? 0 : Math.min(fullCharge(price, call, provider, receipt.held), receipt.held);
    if (late !== undefined || costs === 0) return { violations, isFreeAfterFence: false };
    // A process that lost its lease finds no hold to charge, and tells so.
    const isFenced = call.stoppedMs >= FENCED_AFTER_MS;
    if (!isFenced) violations.push('answered for free, by a process that never stood still for a lease');
    return { violations, isFreeAfterFence: isFenced };
  }
  if (receipt.outcome !== 'answered') violations.push(`a whole answer, booked as ${receipt.outcome}`);
  const expected = provider === undefined ? 0 : Math.min(fullCharge(price, call, provider, receipt.held), receipt.held);
  if (receipt.charged !== expected) violations.push(`charged ${receipt.charged}, the rules say ${expected}`);
  if (call.charged !== undefined && call.charged !== receipt.charged) {
    violations.push(`told ${call.charged}, charged ${receipt.charged}`);
  }
  const reported = provider?.usage;
  if (reported !== undefined && call.usage !== undefined && !sameUsage(reported, call.usage)) {
    violations.push('the usage that the client read is not what the provider reported');
  }
  return { violations, isFreeAfterFence: false };
}

/** WA-10: only an answer is charged late, in full, by its wallet and by us. */
function judgeLate({ call, receipt, late, provider, price }: Judged): readonly string[] {
  if (late === undefined) return [];
  const { outcome, charged, held } = late.receipt;
  const violations: string[] = [];
  if (receipt?.outcome !== 'expired') violations.push('charged late, and its hold was never released');
  if (receipt !== undefined && held !== receipt.held) violations.push('charged late, by a hold of another amount');
  if (outcome !== 'answered' || provider?.isAnswering !== true) violations.push('charged late, and never answered');
  if (call.ending === 'refused') violations.push(`refused with ${call.code}, and charged late`);
  const full = provider === undefined ? 0 : Math.min(fullCharge(price, call, provider, held), held);
  if (charged + late.lost !== full)
    violations.push(`charged ${charged} late and lost ${late.lost}, the rules say ${full}`);
  return violations;
}

function sameUsage(left: ProviderFacts['usage'], right: CallFacts['usage']): boolean {
  return left?.prompt === right?.prompt && left?.completion === right?.completion && left?.cached === right?.cached;
}

const UPSTREAM_CODES = new Set(['UPSTREAM_THROTTLED', 'UPSTREAM_PROVIDER_ERROR', 'INTERNAL_SERVER_ERROR']);

function judgeRefused({ call, receipt, provider }: Judged): readonly string[] {
  const violations: string[] = [];
  if ((receipt?.charged ?? 0) > 0) violations.push(`refused with ${call.code}, and charged ${receipt?.charged}`);
  if (UPSTREAM_CODES.has(call.code ?? '')) return violations;
  if (provider !== undefined) violations.push(`refused with ${call.code}, but the provider was asked (CC-08)`);
  const isLowered = call.code === LOWERED && receipt?.outcome === 'failed'; // Only its hold tells what it can have.
  if (receipt !== undefined && !isLowered) violations.push(`refused with ${call.code}, but held money (CC-08)`);
  return violations;
}

function judgeUnknown({ call, receipt, provider, price }: Judged): readonly string[] {
  if (receipt === undefined || provider === undefined) return [];
  const { outcome, charged, held, isEstimated } = receipt;
  const full = Math.min(fullCharge(price, call, provider, held), held);
  const violations: string[] = [];
  if (outcome === 'answered' && (!provider.isAnswering || charged !== full)) {
    violations.push(`nobody knows the answer; charged ${charged}, the rules say ${provider.isAnswering ? full : 0}`);
  }
  if (outcome === 'abandoned') {
    if (!call.isStream) violations.push('a plain call is never abandoned (CC-11)');
    const least = Math.min(held, chargeOf(price, ownCount(price, call, held, 0)));
    const most = Math.min(held, chargeOf(price, ownCount(price, call, held, provider.contentBytes)));
    const isRight = isEstimated ? charged >= least && charged <= most : charged === full;
    if (!isRight)
      violations.push(`abandoned and charged ${charged}; ${full} in full, ${least} to ${most} by own count`);
  }
  if (outcome === 'failed' && provider.isAnswering && call.hasLeft && !call.isDisturbed) {
    violations.push('the client left a running answer, and it was free (CC-11)');
  }
  if ((outcome === 'failed' || outcome === 'expired') && charged !== 0) violations.push(`${outcome}, and charged`);
  return violations;
}

function fullCharge(price: ModelPrice, call: CallFacts, provider: ProviderFacts, held: number): number {
  return chargeOf(price, provider.usage ?? ownCount(price, call, held, provider.contentBytes));
}

/** WA-07: the part of the provider's bill above the hold is the operator's loss. */
export function overrunOf({ call, receipt, provider, price }: Omit<Judged, 'late'>): number {
  if (receipt === undefined || receipt.isEstimated || provider?.usage === undefined) return 0;
  if (receipt.outcome !== 'answered' && receipt.outcome !== 'abandoned') return 0;
  return Math.max(0, fullCharge(price, call, provider, receipt.held) - receipt.held);
}

/**
 * WA-02 to WA-04: tells whether the wallet can have caused this 402. It returns undefined if the refusal may be right.
 */
export function phantomRefusal(call: CallFacts, log: HistoryLog): string | undefined {
  const wallet = log.wallets.find(({ user }) => user === call.user);
  if (call.ending !== 'refused' || wallet === undefined) return undefined;
  const wasTakenFrom = log.money.some(({ user, kind }) => user === call.user && isTake(kind));
  switch (call.code ?? '') {
    case 'PAYMENT_REQUIRED':
      return wallet.isRich ? 'a wallet with plenty was refused as empty' : undefined;
    case 'WALLET_SUSPENDED':
      return wasTakenFrom ? undefined : 'a wallet from which nothing was ever taken back was refused as suspended';
    case 'APP_SPEND_CAP_EXCEEDED':
      return wallet.capMax !== undefined ? undefined : 'a wallet that never had a cap was refused for its cap';
    case 'KEY_BUDGET_EXCEEDED':
      return phantomOfBudget(call, log);
    case LOWERED:
      return wallet.isRich && isRichKey(call, log) ? 'a call with plenty was refused for its output limit' : undefined;
    case 'INTERNAL_SERVER_ERROR':
      return call.isDisturbed ? undefined : 'a fault of ours, and neither database nor process was disturbed';
    case 'BAD_REQUEST':
      return call.stoppedMs >= TOO_SLOW_AFTER_MS ? undefined : 'a request in good form was refused as a bad one';
    case 'UPSTREAM_PROVIDER_ERROR':
    case 'UPSTREAM_THROTTLED':
      return undefined;
    default:
      return `nothing justifies ${call.code}`;
  }
}

/** Whether no budget of its key can stand in the way of a call. */
function isRichKey({ key }: CallFacts, { keys }: HistoryLog): boolean {
  return keys.find(({ name }) => name === key)?.isWide ?? true;
}

function phantomOfBudget({ key }: CallFacts, { keys }: HistoryLog): string | undefined {
  const facts = keys.find(({ name }) => name === key);
  if (facts === undefined) return 'a key without a budget was refused for its budget';
  return facts.isWide ? 'a key was refused for a budget that nothing could reach' : undefined;
}

export function isTake(kind: string): boolean {
  return kind === 'refund' || kind === 'claw_back';
}
