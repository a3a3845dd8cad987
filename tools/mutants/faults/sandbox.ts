import type { Edit, Mutant, NamedTest } from '../mutant.ts';
import { reserve, sandboxHolds, sandboxSettle } from './places.ts';

const LIKE_REAL_ONES = 'SB-02 sandbox holds behave like real ones';

const inService = (file: string, find: string, replacement: string): Edit => ({
  file: `packages/service/src/${file}`,
  find,
  replacement,
});
const TESTER_ALONE: NamedTest = {
  file: 'tests/conformance/control/test-tokens.test.ts',
  name: 'SB-07 AU-06 a test token opens two routes of its app and nothing else',
};
const PLAYGROUND: NamedTest = {
  file: 'tests/conformance/pages/trying-calls.test.ts',
  name: 'CC-10 CC-19 SB-02 the playground makes a whole call and shows all of it',
};

/** Faults in how play money is judged and charged. Most of its statements are those of real money, and these show that they are. */
export const SANDBOX_FAULTS: readonly Mutant[] = [
  {
    id: 'sandbox-calls-weighed-alone',
    clause: 'SB-02',
    edits: [reserve('wallet.cap_held_micros := wallet.cap_held_micros + granted;', '')],
    killer: sandboxHolds(LIKE_REAL_ONES),
  },
  {
    id: 'sandbox-slots-weighed-alone',
    clause: 'LI-02',
    edits: [reserve(' - cardinality(drains) + (asked.streams_max > 0)::int;', ' - cardinality(drains);')],
    killer: sandboxHolds('LI-02 sandbox streams of one batch share slots'),
  },
  {
    id: 'sandbox-charges-a-joined-call',
    clause: 'CC-14',
    edits: [
      sandboxSettle(
        'where h.call_id = any (calls) and not (h.is_joined and h.call_id = any (unkept))',
        'where h.call_id = any (calls)',
      ),
    ],
    killer: sandboxHolds('CC-14 a joined sandbox call ends once its answer is kept'),
  },
  {
    id: 'sandbox-charges-another-month',
    clause: 'WA-08',
    edits: [sandboxSettle('sum(a.charged) filter (where a.month = w.cap_month)', 'sum(a.charged)')],
    killer: sandboxHolds('SB-02 an old hold leaves the new month alone'),
  },
  {
    id: 'test-token-of-another-app',
    clause: 'SB-07',
    edits: [inService('http/planes/control-plane.ts', 'if (tester.appId !== appId) granted(noSuchApp());', '')],
    killer: TESTER_ALONE,
  },
  {
    id: 'test-token-opens-next',
    clause: 'SB-07',
    edits: [
      inService(
        'http/control-plane/sandbox/sandbox.ts',
        '{ params: sandboxUserParamsSchema, body: nextOutcomeSchema',
        '{ config: FOR_TESTS, params: sandboxUserParamsSchema, body: nextOutcomeSchema',
      ),
    ],
    killer: TESTER_ALONE,
  },
  {
    id: 'playground-stream-says-no-charge',
    clause: 'CC-10',
    edits: [inService('web/console/playground/playground-call.ts', 'charge-micros=(', 'charged-micros=(')],
    killer: PLAYGROUND,
  },
];
