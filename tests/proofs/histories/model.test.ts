import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Books, CallFacts, HistoryLog, MoneyAct, ProviderFacts, Receipt } from './history-log.ts';
import { checkHistory } from './model.ts';

// 10 prompt tokens at 1 micro and 5 completion tokens at 2 make 20 micros, plus 10 %.
const PRICE = {
  input: 1_000_000,
  cachedInput: 500_000,
  output: 2_000_000,
  marginBasisPoints: 1_000,
  promptOverhead: 0,
};
const USAGE = { prompt: 10, cached: 0, completion: 5 };
const CHARGE = 22;

const CALL: CallFacts = {
  tag: 'tag',
  user: 'anna',
  key: undefined,
  model: 'a.model',
  isStream: false,
  bodyBytes: 100,
  promptTokens: 25,
  outputTokensMax: 50,
  ending: 'complete',
  status: 200,
  code: undefined,
  callId: 'call',
  charged: CHARGE,
  usage: USAGE,
  hasLeft: false,
  stoppedMs: 0,
  isDisturbed: false,
};
const RECEIPT: Receipt = {
  callId: 'call',
  user: 'anna',
  outcome: 'answered',
  isEstimated: false,
  held: 200,
  charged: CHARGE,
  correlationId: 'tag',
  budgetKey: undefined,
  month: '2026-11-01',
  lateFor: undefined,
};
const CREDIT: MoneyAct = {
  user: 'anna',
  kind: 'top_up',
  key: 'k',
  amount: 1_000,
  answers: ['booked', 'repeated'],
  lostAnswers: 0,
  otherAmountAnswers: ['conflict'],
};
const ANSWERED: ProviderFacts = { asked: 1, isAnswering: true, usage: USAGE, contentBytes: 12 };

interface Changes {
  readonly call?: Partial<CallFacts>;
  readonly receipt?: Partial<Receipt>;
  readonly provider?: Partial<ProviderFacts>;
  readonly money?: Partial<MoneyAct>;
  readonly books?: Partial<Books>;
}

/** A history of one credit and one call, right to the micro except for the changes. */
function historyWith({ call, receipt, provider, money, books }: Changes): HistoryLog {
  const charged = receipt?.charged ?? CHARGE;
  const charge = { user: 'anna', kind: 'charge', cause: 'call', amount: charged };
  return {
    prices: { 'a.model': PRICE },
    wallets: [{ user: 'anna', isRich: true, capMax: undefined, wasReinstated: false }],
    keys: [
      { name: 'wide', line: 'key_wide', isWide: true, budget: 1_000, budgetMax: 1_000 },
      { name: 'narrow', line: 'key_narrow', isWide: false, budget: 20, budgetMax: 30 },
      { name: 'successor', line: 'key_narrow', isWide: false, budget: 20, budgetMax: 30 },
    ],
    calls: [{ ...CALL, ...call }],
    provider: new Map([['tag', { ...ANSWERED, ...provider }]]),
    money: [{ ...CREDIT, ...money }],
    books: {
      receipts: [{ ...RECEIPT, ...receipt }],
      entries: [{ user: 'anna', kind: 'top_up', cause: 'k', amount: 1_000 }, ...(charged === 0 ? [] : [charge])],
      wallets: [{ user: 'anna', balance: 1_000 - charged, held: 0, shortfall: 0, isSuspended: false }],
      budgets: [],
      holdsLeft: 0,
      ...books,
    },
  };
}

function rulesBroken(changes: Changes): readonly string[] {
  return checkHistory(historyWith(changes)).violations.map(({ rule }) => rule);
}

const WALLET = { user: 'anna', held: 0, shortfall: 0, isSuspended: false };
const CREDITED = { user: 'anna', kind: 'top_up', cause: 'k', amount: 1_000 };
const CHARGED = { user: 'anna', kind: 'charge', cause: 'call', amount: CHARGE };
const UNKNOWN: Partial<CallFacts> = { ending: 'unknown', status: undefined, callId: undefined, charged: undefined };

test('a history in which all sides agree has no violation', () => {
  assert.deepEqual(rulesBroken({}), []);
});

test('WA-07 a lost charge is found', () => {
  const books = { receipts: [], entries: [CREDITED], wallets: [{ ...WALLET, balance: 1_000 }] };
  assert.match(rulesBroken({ books }).join(), /has no receipt: its charge is lost/);
});

test('WA-07 a zero charge for an acknowledged answer is found', () => {
  assert.match(rulesBroken({ receipt: { charged: 0 } }).join(), /charged 0, the rules say 22/);
});

test('WA-07 a double charge is found', () => {
  const twice = { entries: [CREDITED, CHARGED, CHARGED], wallets: [{ ...WALLET, balance: 1_000 - 2 * CHARGE }] };
  assert.match(rulesBroken({ books: twice }).join(), /the entries of a call are not its receipt/);
  const receipts = [RECEIPT, { ...RECEIPT, callId: 'again' }];
  assert.match(rulesBroken({ books: { ...twice, receipts } }).join(), /one call has two receipts/);
});

test('MO-06 a charge a micro off is found', () => {
  for (const charged of [CHARGE - 1, CHARGE + 1]) {
    const broken = rulesBroken({ receipt: { charged }, call: { charged } });
    assert.deepEqual(broken, [`charged ${charged}, the rules say ${CHARGE}`]);
  }
  assert.deepEqual(rulesBroken({ call: { charged: CHARGE + 1 } }), ['told 23, charged 22']);
});

test('WA-10 a leaked hold is found', () => {
  assert.deepEqual(rulesBroken({ books: { holdsLeft: 1 } }), ['a hold leaked']);
  const wallets = [{ ...WALLET, balance: 1_000 - CHARGE, held: 5 }];
  assert.deepEqual(rulesBroken({ books: { wallets } }), ['money is held, but no call runs']);
});

test('WA-09 a balance that is a micro off is found', () => {
  const wallets = [{ ...WALLET, balance: 1_000 - CHARGE + 1 }];
  assert.match(rulesBroken({ books: { wallets } }).join(), /^balance less shortfall is all money in/);
});

test('CC-08 CC-09 a charge for a failed call is found', () => {
  const call: Partial<CallFacts> = {
    ending: 'refused',
    status: 502,
    code: 'UPSTREAM_PROVIDER_ERROR',
    charged: undefined,
  };
  assert.match(rulesBroken({ call }).join(), /refused with UPSTREAM_PROVIDER_ERROR, and charged 22/);
  const refused: Partial<CallFacts> = { ...call, status: 402, code: 'PAYMENT_REQUIRED' };
  const broken = rulesBroken({ call: refused, receipt: { charged: 0, outcome: 'failed' } }).join();
  assert.match(broken, /the provider was asked \(CC-08\).*held money \(CC-08\).*a wallet with plenty was refused/);
  const lowered: Partial<CallFacts> = { ...call, status: 400, code: 'LIMIT_LOWERED' };
  const [asked, plenty, ...more] = rulesBroken({ call: lowered, receipt: { charged: 0, outcome: 'failed' } });
  assert.match(`${asked} ${plenty}`, /the provider was asked \(CC-08\).*plenty was refused for its output limit/);
  assert.deepEqual(more, []);
});

test('WA-10 an answer is free only after a stop past the lease', () => {
  const free = { receipt: { outcome: 'expired', charged: 0, correlationId: undefined } as const };
  const told = { ...free, call: { charged: 0, stoppedMs: 16_000 } };
  const { violations, figures } = checkHistory(historyWith(told));
  assert.deepEqual(violations, []);
  assert.equal(figures.freeAfterFence, 1);
  assert.match(rulesBroken({ ...free, call: { charged: 0 } }).join(), /never stood still for a lease/);
});

test('WA-10 a free call owes nothing after its release', () => {
  const provider = { usage: { prompt: 0, cached: 0, completion: 0 } };
  const receipt = { outcome: 'expired', charged: 0, correlationId: undefined } as const;
  const call = { charged: 0, usage: provider.usage };
  assert.deepEqual(rulesBroken({ provider, receipt, call }), []);
});

test('WA-10 a charge that was told and never booked is found', () => {
  const free = { receipt: { outcome: 'expired', charged: 0, correlationId: undefined } as const };
  for (const stoppedMs of [0, 16_000]) {
    assert.match(rulesBroken({ ...free, call: { stoppedMs } }).join(), /told 22, booked 0 after its hold was released/);
  }
});

test('WA-10 a late charge is booked in full and once', () => {
  const released: Receipt = { ...RECEIPT, outcome: 'expired', charged: 0, correlationId: undefined };
  const late = (paid: number, lost: number, change: Partial<Receipt> = {}, of: Partial<CallFacts> = {}) => {
    const receipt: Receipt = { ...RECEIPT, callId: 'late', charged: paid, lateFor: 'call', ...change };
    const charge = { user: 'anna', kind: 'charge', cause: 'late', amount: paid };
    const loss = { user: 'anna', kind: 'charge_lost', cause: 'late', amount: lost };
    const books = {
      receipts: [released, receipt],
      entries: [CREDITED, charge, ...(lost === 0 ? [] : [loss])],
      wallets: [{ ...WALLET, balance: 1_000 - paid }],
    };
    return checkHistory(historyWith({ call: of, books }));
  };
  const rules = (...of: Parameters<typeof late>) =>
    late(...of)
      .violations.map(({ rule }) => rule)
      .join();
  assert.equal(rules(CHARGE, 0), '');
  assert.equal(rules(20, 2), '');
  assert.equal(rules(CHARGE, 0, {}, UNKNOWN), '');
  assert.deepEqual([late(20, 2).figures.late, late(20, 2).figures.lateLoss, late(20, 2).figures.holds], [1, 2, 1]);
  assert.match(rules(20, 0), /charged 20 late and lost 0, the rules say 22,told 22, booked 20/);
  assert.match(rules(CHARGE, 1), /booked 23/);
  assert.match(rules(CHARGE, 0, { outcome: 'abandoned' }), /charged late, and never answered/);
  assert.match(rules(CHARGE, 0, { held: 201 }), /by a hold of another amount/);
  assert.match(rules(CHARGE, 0, { lateFor: 'unknown' }), /one call has two receipts/);
  const refused: Partial<CallFacts> = {
    ending: 'refused',
    code: 'INTERNAL_SERVER_ERROR',
    charged: undefined,
    isDisturbed: true,
  };
  assert.match(rules(CHARGE, 0, {}, refused), /refused with INTERNAL_SERVER_ERROR, and charged late/);
  const twice = { receipts: [RECEIPT, { ...RECEIPT, callId: 'late', lateFor: 'call' }] };
  assert.match(rulesBroken({ books: twice }).join(), /charged late, and its hold was never released/);
});

test('CC-11 a call with an unknown end costs nothing or everything', () => {
  assert.deepEqual(rulesBroken({ call: UNKNOWN }), []);
  const expired = { outcome: 'expired', charged: 0, correlationId: undefined } as const;
  assert.deepEqual(rulesBroken({ call: UNKNOWN, receipt: expired }), []);
  assert.match(rulesBroken({ call: UNKNOWN, receipt: { charged: 10 } }).join(), /nobody knows.*the rules say 22/);
  assert.match(rulesBroken({ call: UNKNOWN, provider: { isAnswering: false } }).join(), /the rules say 0/);
});

test('CC-11 an abandoned stream costs at most what was generated', () => {
  // A prompt of 25 tokens and up to 4 generated ones by our own count: 27.5 to 36.3 micros.
  const abandoned = { outcome: 'abandoned', isEstimated: true } as const;
  const call = { ...UNKNOWN, isStream: true, hasLeft: true };
  for (const charged of [28, 37]) assert.deepEqual(rulesBroken({ call, receipt: { ...abandoned, charged } }), []);
  for (const charged of [27, 38]) {
    assert.match(rulesBroken({ call, receipt: { ...abandoned, charged } }).join(), /28 to 37 by own count/);
  }
  const free = rulesBroken({ call, receipt: { outcome: 'failed', charged: 0 } });
  assert.match(free.join(), /it was free \(CC-11\)/);
});

test('a credit booked twice or under another amount is found', () => {
  const entries = [CREDITED, CREDITED, CHARGED];
  const wallets = [{ ...WALLET, balance: 2_000 - CHARGE }];
  assert.match(rulesBroken({ books: { entries, wallets } }).join(), /each top_up counts once.*balance less shortfall/);
  assert.deepEqual(rulesBroken({ money: { answers: ['booked', 'booked'] } }), [
    'a payment was not booked exactly once',
  ]);
  assert.deepEqual(rulesBroken({ money: { otherAmountAnswers: ['booked'] } }), ['a known key took another amount']);
});

test('WA-05 an indebted wallet without suspension is found', () => {
  const wallets = [{ ...WALLET, balance: 1_000 - CHARGE + 5, shortfall: 5 }];
  assert.match(rulesBroken({ books: { wallets } }).join(), /nothing was ever taken back.*is not suspended \(WA-05\)/);
});

test('WA-07 an overrun that is not booked as our loss is found', () => {
  const usage = { prompt: 10, cached: 0, completion: 500 };
  const provider = { usage };
  const broken = rulesBroken({ provider, call: { usage, charged: 200 }, receipt: { charged: 200 } });
  assert.deepEqual(broken, ['an overrun is booked wrongly']);
});

test('the provider may be called once, only with a hold', () => {
  assert.match(rulesBroken({ provider: { asked: 2 } }).join(), /asked more than once/);
  const books = { receipts: [], entries: [CREDITED], wallets: [{ ...WALLET, balance: 1_000 }] };
  assert.deepEqual(rulesBroken({ call: UNKNOWN, books }), ['calls reached the provider without a hold']);
});

const BUDGET = { line: 'key_narrow', month: '2026-11-01', spent: CHARGE, held: 0 };
const OF_BUDGET = { call: { key: 'successor' }, receipt: { budgetKey: 'key_narrow' } };

test('CP-08 a budget that differs from its calls is found', () => {
  assert.deepEqual(rulesBroken({ ...OF_BUDGET, books: { budgets: [BUDGET] } }), []);
  const notTheSum = 'what a budget has spent is not the sum of its receipts';
  assert.deepEqual(rulesBroken({ ...OF_BUDGET, books: { budgets: [{ ...BUDGET, spent: CHARGE - 1 }] } }), [notTheSum]);
  assert.deepEqual(rulesBroken({ ...OF_BUDGET, books: { budgets: [{ ...BUDGET, month: '2026-12-01' }] } }), [
    notTheSum,
    notTheSum,
  ]);
  assert.deepEqual(rulesBroken(OF_BUDGET), [notTheSum]);
  const held = rulesBroken({ ...OF_BUDGET, books: { budgets: [{ ...BUDGET, held: 1 }] } });
  assert.deepEqual(held, ['a budget is held, but no call runs']);
});

test('CP-08 an overspent budget is found', () => {
  const dear = { receipt: { ...OF_BUDGET.receipt, charged: 31 }, books: { budgets: [{ ...BUDGET, spent: 31 }] } };
  assert.match(rulesBroken({ ...OF_BUDGET, ...dear }).join(), /charged more than any budget that was set/);
  const another = ['a call counts for the budget of another key'];
  assert.deepEqual(rulesBroken({ call: { key: 'successor' } }), another);
  assert.deepEqual(rulesBroken({ receipt: OF_BUDGET.receipt, books: { budgets: [BUDGET] } }), another);
});

test('CP-08 a refusal despite room in the budget is found', () => {
  const refused = { ending: 'refused', status: 403, code: 'KEY_BUDGET_EXCEEDED', charged: undefined } as const;
  const books = { receipts: [], entries: [CREDITED], wallets: [{ ...WALLET, balance: 1_000 }] };
  const rulesOf = (key: string | undefined) => rulesBroken({ call: { ...refused, key }, books }).join();
  assert.match(rulesOf('wide'), /a budget that nothing could reach/);
  assert.match(rulesOf(undefined), /a key without a budget was refused/);
  assert.doesNotMatch(rulesOf('narrow'), /refused for/);
});
