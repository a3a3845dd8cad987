import type { Mutant } from '../mutant.ts';
import { inFile, ofFile, settleLate } from './places.ts';

const SOURCE = 'packages/service/src';
const noteSessions = inFile(`${SOURCE}/calls/sessions/note_sessions.sql`);
const sandboxSettle = inFile(`${SOURCE}/sandbox/holds/settle.sql`);
const release = inFile(`${SOURCE}/connections/release.ts`);
const ofLedger = ofFile('tests/integration/ledger-sessions.test.ts');
const ofCalls = ofFile('tests/conformance/sessions.test.ts');

const SUMS = ofLedger('CP-19 the sums of a session are those of its receipts');

/** Faults by which a session of a coding agent costs more or less than its calls, or outlives its owner (CP-19). */
export const SESSION_FAULTS: readonly Mutant[] = [
  {
    id: 'session-counts-a-repeated-settlement',
    clause: 'CP-19',
    edits: [
      noteSessions('where not exists (select from usage.session_calls n where n.call_id = q.call_id)', ''),
      noteSessions(
        'from ended e join counted c on c.wallet_id = e.wallet_id and c.name = e.name',
        'from ended e join counted c on c.wallet_id = e.wallet_id and c.name = e.name on conflict do nothing',
      ),
    ],
    killer: SUMS,
  },
  {
    id: 'session-counts-failed-calls',
    clause: 'CP-19',
    edits: [noteSessions("in ('answered', 'abandoned')", "in ('answered', 'abandoned', 'failed')")],
    killer: SUMS,
  },
  {
    id: 'session-without-late-charges',
    clause: 'CP-19',
    edits: [settleLate('select row(receipt, s.name,', 'select row(late.call_id, s.name,')],
    killer: ofLedger('CP-19 a late charge counts, and a released hold does not'),
  },
  {
    id: 'session-of-play-money-costs-its-holds',
    clause: 'CP-19',
    edits: [
      sandboxSettle(
        'sum(least(q.charge_micros, h.amount_micros))::bigint\n    from',
        'sum(h.amount_micros)::bigint\n    from',
      ),
    ],
    killer: ofCalls('CP-19 an owner sees the sessions of users and test users'),
  },
  {
    id: 'session-stays-after-a-release',
    clause: 'CP-19',
    edits: [release('  await wallets.forgetSessions(wallet.appId, wallet.userId);\n', '')],
    killer: ofCalls('CP-19 a person sees, exports and deletes their sessions'),
  },
];
