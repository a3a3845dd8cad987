// What the clauses allow, derived from the records of clients, provider and payments. Imports nothing from the service.
import { checkBudgets, checkBudgetsOfCalls } from './budget-rules.ts';
import { isTake, judgeCall, type LateCharge, overrunOf, phantomRefusal, type Violation } from './call-rules.ts';
import type { CallFacts, HistoryLog, MoneyAct, Receipt, WalletFacts, WalletRow } from './history-log.ts';

export type Figures = ReturnType<typeof figuresOf>;

/** Checks a history against the rules. Without a violation, books, clients, provider and payments agree to the micro. */
export function checkHistory(log: HistoryLog) {
  const matched = matchReceipts(log);
  const late = lateCharges(log);
  const violations: Violation[] = [];
  const free: CallFacts[] = [];
  for (const call of log.calls) {
    const receipt = matched.get(call.tag);
    const judged = { ...judgedOf(log, call, receipt), late: receipt && late.get(receipt.callId) };
    const verdict = judgeCall(judged);
    if (verdict.isFreeAfterFence) free.push(call);
    const phantom = phantomRefusal(call, log);
    const rules = phantom === undefined ? verdict.violations : [...verdict.violations, phantom];
    violations.push(...rules.map((rule) => ({ rule, about: JSON.stringify(judged) })));
  }
  violations.push(...checkReceipts(log, matched), ...checkEntries(log, matched));
  violations.push(...checkBudgets(log), ...checkBudgetsOfCalls(log, matched));
  for (const wallet of log.wallets) violations.push(...checkWallet(log, wallet));
  for (const act of log.money) violations.push(...checkAct(act));
  if (log.books.holdsLeft > 0) violations.push({ rule: 'a hold leaked', about: `${log.books.holdsLeft} holds` });
  return { violations, figures: figuresOf(log, free) };
}

function judgedOf(log: HistoryLog, call: CallFacts, receipt: Receipt | undefined) {
  const price = log.prices[call.model];
  if (price === undefined) throw new Error(`The model ${call.model} has no price.`);
  return { call, receipt, provider: log.provider.get(call.tag), price };
}

/** Finds the receipt of each call by the id that its client got, or by the name that the client gave it. */
function matchReceipts({ calls, books }: HistoryLog): ReadonlyMap<string, Receipt> {
  const byId = new Map(books.receipts.map((receipt) => [receipt.callId, receipt]));
  // A late receipt has the name of its call. The first one, of a process that was lost, has none.
  const first = (receipt: Receipt) => byId.get(receipt.lateFor ?? receipt.callId) ?? receipt;
  const byName = new Map(books.receipts.map((receipt) => [receipt.correlationId, first(receipt)]));
  const matched = new Map<string, Receipt>();
  for (const { tag, callId } of calls) {
    const receipt = callId === undefined ? byName.get(tag) : byId.get(callId);
    if (receipt !== undefined) matched.set(tag, receipt);
  }
  return matched;
}

/** What was charged late, by the id of its call. */
function lateCharges({ books }: HistoryLog): ReadonlyMap<string, LateCharge> {
  const lost = new Map<string, number>();
  for (const { kind, cause, amount } of books.entries)
    if (kind === 'charge_lost') lost.set(cause, (lost.get(cause) ?? 0) + amount);
  return new Map(
    books.receipts.flatMap((receipt) =>
      receipt.lateFor === undefined ? [] : [[receipt.lateFor, { receipt, lost: lost.get(receipt.callId) ?? 0 }]],
    ),
  );
}

/** Each call has one receipt, or a second one that charges it late. Each receipt has a call, and every call that reached the provider has left one. */
function checkReceipts({ calls, books, provider }: HistoryLog, matched: ReadonlyMap<string, Receipt>): Violation[] {
  const violations: Violation[] = [];
  const known = new Set([...matched.values()].map(({ callId }) => callId));
  const users = new Map(calls.map(({ tag, user }) => [tag, user]));
  for (const receipt of books.receipts) {
    const about = JSON.stringify(receipt);
    if (known.has(receipt.lateFor ?? receipt.callId)) continue;
    if (receipt.correlationId !== undefined && users.has(receipt.correlationId)) {
      violations.push({ rule: 'one call has two receipts', about });
    } else if (receipt.charged > 0) violations.push({ rule: 'a charge for a call that nobody made', about });
  }
  for (const [tag, { callId, user }] of matched) {
    if (users.get(tag) !== user)
      violations.push({ rule: 'a call was booked to another wallet', about: `${tag} ${callId}` });
  }
  // If a process died during the call, the receipt has no name, but there must still be one.
  for (const user of new Set(users.values())) {
    const others = books.receipts.filter(({ callId, lateFor }) => lateFor === undefined && !known.has(callId));
    const nameless = others.filter((receipt) => receipt.user === user).length;
    const lost = calls.filter((call) => call.user === user && provider.has(call.tag) && !matched.has(call.tag)).length;
    if (lost > nameless)
      violations.push({ rule: 'calls reached the provider without a hold', about: `${user}: ${lost}` });
  }
  return violations;
}

/** Each call's entries match its receipt, once, and the provider's overrun is booked as our loss. */
function checkEntries(log: HistoryLog, matched: ReadonlyMap<string, Receipt>): Violation[] {
  const violations: Violation[] = [];
  const charged = new Map<string, number>();
  const overruns = new Map<string, number>();
  for (const { kind, cause, amount } of log.books.entries) {
    const sums = kind === 'charge' || kind === 'charge_receivable' ? charged : overruns;
    if (sums === charged || kind === 'charge_overrun') sums.set(cause, (sums.get(cause) ?? 0) + amount);
  }
  const receipts = new Map(log.books.receipts.map((receipt) => [receipt.callId, receipt]));
  for (const callId of new Set([...charged.keys(), ...receipts.keys()])) {
    const [booked, told] = [charged.get(callId) ?? 0, receipts.get(callId)?.charged ?? 0];
    if (booked !== told) {
      violations.push({ rule: 'the entries of a call are not its receipt', about: `${callId}: ${booked}, ${told}` });
    }
  }
  const late = lateCharges(log);
  const expected = new Map<string, number>();
  for (const call of log.calls) {
    const first = matched.get(call.tag);
    const receipt = (first && late.get(first.callId)?.receipt) ?? first;
    const overrun = overrunOf(judgedOf(log, call, receipt));
    if (receipt !== undefined && overrun > 0) expected.set(receipt.callId, overrun);
  }
  for (const callId of new Set([...overruns.keys(), ...expected.keys()])) {
    const [booked, right] = [overruns.get(callId) ?? 0, expected.get(callId) ?? 0];
    if (booked !== right)
      violations.push({ rule: 'an overrun is booked wrongly', about: `${callId}: ${booked}, ${right}` });
  }
  return violations;
}

/** WA-05, WA-06, WA-09, WA-12: checks that the money in, less the money out, is in the wallet or is owed. */
function checkWallet(log: HistoryLog, facts: WalletFacts): Violation[] {
  const { user } = facts;
  const row = log.books.wallets.find((one) => one.user === user);
  if (row === undefined) return [{ rule: 'a wallet is gone', about: user }];
  const booked = (...kinds: readonly string[]) =>
    sum(log.books.entries.filter((entry) => entry.user === user && kinds.includes(entry.kind)));
  const acts = log.money.filter((act) => act.user === user);
  const violations: Violation[] = [];
  const expect = (what: string, found: number, right: number): void => {
    if (found !== right) violations.push({ rule: what, about: `${user}: found ${found}, the rules say ${right}` });
  };
  for (const kind of ['top_up', 'contract_credit', 'funds_reinstated'] as const) {
    expect(`each ${kind} counts once`, booked(kind), sum(acts.filter((act) => act.kind === kind)));
  }
  for (const kind of ['refund', 'claw_back'] as const) {
    const right = sum(acts.filter((act) => act.kind === kind));
    expect(`each ${kind} counts once`, booked(kind, `${kind}_receivable`), right);
  }
  const charged = log.books.receipts.reduce((total, one) => total + (one.user === user ? one.charged : 0), 0);
  const [came, went] = [sum(acts.filter(({ kind }) => !isTake(kind))), sum(acts.filter(({ kind }) => isTake(kind)))];
  const writtenOff = booked('write_off');
  expect(
    'balance less shortfall is all money in less all money out',
    row.balance - row.shortfall,
    came - went - charged + writtenOff,
  );
  if (facts.capMax !== undefined && charged > facts.capMax) {
    violations.push({
      rule: 'charged more than any cap that was set (WA-03)',
      about: `${user}: ${charged}, ${facts.capMax}`,
    });
  }
  violations.push(...checkStanding(facts, row, went, writtenOff + booked('recovery')));
  return violations;
}

function checkStanding(facts: WalletFacts, row: WalletRow, went: number, mended: number): Violation[] {
  const violations: Violation[] = [];
  const complain = (rule: string): void => void violations.push({ rule, about: JSON.stringify(row) });
  if (row.balance < 0 || row.shortfall < 0) complain('an amount is below zero');
  if (row.held !== 0) complain('money is held, but no call runs');
  if (went === 0 && (row.shortfall > 0 || row.isSuspended))
    complain('owes or is suspended, and nothing was ever taken back');
  if (row.shortfall > 0 && !row.isSuspended) complain('owes money and is not suspended (WA-05)');
  if (!facts.wasReinstated && mended > 0) complain('recovered or written off, and nobody asked for it');
  return violations;
}

/** A key counts once, however often the request is sent again. Another amount under the same key is a conflict. */
function checkAct({ user, kind, key, answers, lostAnswers, otherAmountAnswers }: MoneyAct): Violation[] {
  const count = (answer: string) => answers.filter((one) => one === answer).length;
  const about = `${user} ${kind} ${key}: ${[...answers, ...otherAmountAnswers].join(' ')}, ${lostAnswers} lost`;
  const violations: Violation[] = [];
  const isBookedOnce = count('booked') === 1 || (count('booked') === 0 && lostAnswers > 0 && count('repeated') > 0);
  if (!isBookedOnce) violations.push({ rule: 'a payment was not booked exactly once', about });
  if (count('booked') + count('repeated') !== answers.length) violations.push({ rule: 'a payment was refused', about });
  if (otherAmountAnswers.some((answer) => answer !== 'conflict')) {
    violations.push({ rule: 'a known key took another amount', about });
  }
  return violations;
}

function sum(items: readonly { readonly amount: number }[]): number {
  return items.reduce((total, { amount }) => total + amount, 0);
}

function figuresOf({ calls, books, money }: HistoryLog, free: readonly CallFacts[]) {
  const count = (ending: CallFacts['ending']) => calls.filter((call) => call.ending === ending).length;
  const charged = books.receipts.filter(({ charged: micros }) => micros > 0);
  const budgeted = books.receipts.filter(({ budgetKey }) => budgetKey !== undefined);
  return {
    calls: calls.length,
    acknowledged: count('complete'),
    refusals: count('refused'),
    unknown: count('unknown'),
    holds: books.receipts.filter(({ lateFor }) => lateFor === undefined).length + books.holdsLeft,
    charges: charged.length,
    micros: charged.reduce((total, receipt) => total + receipt.charged, 0),
    overruns: books.entries.filter(({ kind }) => kind === 'charge_overrun').length,
    /** Holds of keys with a budget, what they were charged, and refusals for a budget. */
    budgeted: budgeted.length,
    budgetMicros: budgeted.reduce((total, receipt) => total + receipt.charged, 0),
    budgetRefusals: calls.filter(({ code }) => code === 'KEY_BUDGET_EXCEEDED').length,
    credits: money.filter(({ kind }) => !isTake(kind)).length,
    takes: money.filter(({ kind }) => isTake(kind)).length,
    repeatedSends: money.reduce((total, act) => total + act.answers.length + act.lostAnswers - 1, 0),
    entries: books.entries.length,
    orphans: books.receipts.filter(({ outcome }) => outcome === 'expired').length,
    freeAfterFence: free.length,
    /** Calls that were charged after their holds were released, and what that cost us. */
    late: books.receipts.filter(({ lateFor }) => lateFor !== undefined).length,
    lateLoss: sum(books.entries.filter(({ kind }) => kind === 'charge_lost')),
    serverErrors: calls.filter(({ code }) => code === 'INTERNAL_SERVER_ERROR').length,
  };
}
