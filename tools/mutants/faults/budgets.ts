import type { Edit, Mutant, NamedTest } from '../mutant.ts';
import { askedHolds, lockBudgets, reserve, roomInBudget, settle, settleOne, turn } from './places.ts';

const edit = (file: string, find: string, replacement: string): Edit => ({ file, find, replacement });
const budgetTest = (name: string): NamedTest => ({ file: 'tests/integration/key-budgets.test.ts', name });
const keyTest = (name: string): NamedTest => ({ file: 'tests/conformance/control/key-limits.test.ts', name });

const BOOKED = 'CP-08 a budget is booked with the hold and returned at settlement';
const SHARE = 'CP-08 a call gets what the budget has left';
const MONTH = 'CP-08 WA-08 a budget begins anew with the month';
const DEAD = 'CP-08 WA-10 a dead process’s calls free their budget';
const CROSSED = 'CP-08 crossed calls overspend no budget and never deadlock';
const CHECKED = 'CP-08 WA-09 the check derives what each budget spends and holds';
const judged = (name: string) => budgetTest(`${name} (judged)`);
const inTurns = (name: string) => budgetTest(`${name} (inTurns)`);
const EXPIRED = keyTest('CP-08 AU-01 an expired key is refused until its expiry is extended');
const MODELS = keyTest('CP-08 MO-01 a key calls and lists only its models');
const ADDRESSES = keyTest('CP-08 a key works only from its addresses and networks');
const RATE = keyTest('CP-08 LI-01 a key’s own rate takes nothing from the app’s other keys');
const ROLLED = keyTest('CP-08 a rolled key has one successor, and both share one budget');
const PLAY_MONEY = keyTest('CP-08 a sandbox key spends its monthly budget and no more');

const SOURCE = 'packages/service/src';
const TABLES = 'packages/service/migrations/0007_ledger.sql';
const OUTCOME = `${SOURCE}/db/holds/budget_outcome.sql`;
const DIFFERENCES = `${SOURCE}/ledger/check/differences.sql`;
const TURN_QUERIES = `${SOURCE}/ledger/turn/queries.ts`;
const SETTINGS = `${SOURCE}/developers/keys/settings.ts`;
const DIRECTORY = `${SOURCE}/developers/keys/directory.ts`;
const FIXED = `${SOURCE}/developers/keys/refuse_key_change.sql`;
const ADMISSION = `${SOURCE}/gateway/request/admission.ts`;
const VALIDATION = `${SOURCE}/gateway/request/validate-call.ts`;
const MODEL_LIST = `${SOURCE}/http/data-plane/models.ts`;
const SANDBOX_SETTLE = `${SOURCE}/sandbox/holds/settle.sql`;

/** Faults in the limits of API keys, the budget first. */
export const BUDGET_FAULTS: readonly Mutant[] = [
  {
    id: 'budget-without-what-is-held',
    clause: 'CP-08',
    edits: [
      edit(OUTCOME, 'when spent + held + least_amount > budget', 'when false'),
      roomInBudget(' - b.held_micros - b.lent_micros', ' - b.lent_micros'),
    ],
    killer: judged(BOOKED),
  },
  {
    id: 'budget-without-what-is-spent',
    clause: 'CP-08',
    edits: [edit(OUTCOME, 'when spent + least_amount > budget', 'when least_amount > budget')],
    killer: judged(BOOKED),
  },
  {
    id: 'budget-grants-more-than-is-left',
    clause: 'CP-08',
    edits: [reserve('granted := db.granted_hold(least(largest, room),', 'granted := db.granted_hold(largest,')],
    killer: judged(SHARE),
  },
  {
    id: 'budget-not-booked-with-the-hold',
    clause: 'CP-08',
    edits: [reserve('budget.held_micros := budget.held_micros + granted;', '')],
    killer: judged(BOOKED),
  },
  {
    id: 'budget-after-the-money-of-the-user',
    clause: 'CP-08',
    edits: [
      reserve(
        'if outcome is null and asked.budget_key is not null then',
        'if outcome is null and asked.wallet_id is not null and asked.budget_key is not null then',
      ),
    ],
    killer: judged(SHARE),
  },
  {
    id: 'budget-read-without-its-lock',
    clause: 'CP-08',
    edits: [
      lockBudgets(' for no key update of b', ''),
      edit(TABLES, 'held_micros) >= 0)\n) -- A busy', 'held_micros) > -1000000)\n) -- A busy'),
    ],
    killer: judged(CROSSED),
  },
  {
    id: 'budget-holds-not-given-back',
    clause: 'CP-08',
    edits: [settle('held_micros = b.held_micros - t.held', 'held_micros = b.held_micros')],
    killer: judged(DEAD),
  },
  {
    id: 'budget-charges-not-spent',
    clause: 'CP-08',
    edits: [settle('spent_micros = b.spent_micros + t.owed', 'spent_micros = b.spent_micros')],
    killer: judged(BOOKED),
  },
  {
    id: 'budget-settled-in-every-month',
    clause: 'WA-08',
    edits: [
      settle(
        'where b.key_id = t.budget_key and b.month = t.month',
        'where b.key_id = t.budget_key and b.held_micros >= t.held',
      ),
    ],
    killer: judged(MONTH),
  },
  {
    id: 'budget-locked-of-the-clocks-month',
    clause: 'WA-08',
    edits: [
      lockBudgets('greatest(w.cap_month, p_month) as month', 'p_month as month'),
      reserve('b.month = greatest(w.cap_month, this_month)', 'b.month = this_month'),
    ],
    killer: judged(MONTH),
  },
  {
    id: 'budget-passed-by-an-ordinary-hold',
    clause: 'CP-08',
    edits: [edit(TURN_QUERIES, ' && budget === undefined', ''), askedHolds('  where q.budget_key is null\n', '')],
    killer: inTurns(BOOKED),
  },
  {
    id: 'settle-one-forgets-the-budget',
    clause: 'CP-08',
    edits: [settleOne('h.call_id = p.call_id and h.budget_key is null and', 'h.call_id = p.call_id and')],
    killer: inTurns(BOOKED),
  },
  {
    id: 'turn-forgets-the-budget',
    clause: 'CP-08',
    edits: [turn('h.call_id = q.call_id and h.budget_key is null and', 'h.call_id = q.call_id and')],
    killer: inTurns(CROSSED),
  },
  {
    id: 'check-passes-over-budgets',
    clause: 'WA-09',
    edits: [edit(DIFFERENCES, 'where f.expected <> f.found', 'where false')],
    killer: judged(CHECKED),
  },
  {
    id: 'roll-begins-a-new-budget',
    clause: 'CP-08',
    edits: [edit(SETTINGS, 'const line = row.counts_as ?? keyId;', 'const line = keyId;')],
    killer: ROLLED,
  },
  {
    id: 'revoked-key-comes-back',
    clause: 'AU-09',
    edits: [edit(FIXED, '(old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)', 'false')],
    killer: ROLLED,
  },
  {
    id: 'expired-key-goes-on',
    clause: 'CP-08',
    edits: [edit(DIRECTORY, 'key.expires_at.getTime() <= systemClock.nowMs()', 'key.expires_at.getTime() <= 0')],
    killer: EXPIRED,
  },
  {
    id: 'key-from-any-address',
    clause: 'CP-08',
    edits: [edit(ADMISSION, '!allowsAddress(addressOf(request))', "addressOf(request) === ''")],
    killer: ADDRESSES,
  },
  {
    id: 'key-without-its-rate',
    clause: 'CP-08',
    edits: [edit(ADMISSION, 'if (!ofKey.isTaken) {', 'if (ofKey.waitMs < 0) {')],
    killer: RATE,
  },
  {
    id: 'key-calls-any-model',
    clause: 'CP-08',
    edits: [
      edit(
        VALIDATION,
        'key.models === null || isAmong(catalogue, key.models, model)',
        'key.models === null || isAmong(catalogue, [name], model)',
      ),
    ],
    killer: MODELS,
  },
  {
    id: 'key-lists-any-model',
    clause: 'CP-08',
    edits: [
      edit(
        MODEL_LIST,
        '(models === null || isAmong(catalogue, models, model))',
        '(models === null || models.length > 0)',
      ),
    ],
    killer: MODELS,
  },
  {
    id: 'sandbox-budget-not-judged',
    clause: 'SB-02',
    edits: [
      reserve('room := asked.budget_micros - budget.spent_micros - budget.held_micros;', ''),
      reserve('outcome := db.budget_outcome(', 'outcome := null; perform db.budget_outcome('),
    ],
    killer: PLAY_MONEY,
  },
  {
    id: 'sandbox-budget-not-spent',
    clause: 'SB-02',
    edits: [edit(SANDBOX_SETTLE, 'spent_micros = b.spent_micros + t.charged', 'spent_micros = b.spent_micros')],
    killer: PLAY_MONEY,
  },
];
