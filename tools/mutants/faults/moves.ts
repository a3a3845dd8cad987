import type { Mutant } from '../mutant.ts';
import { inFile, ofFile } from './places.ts';

const arrive = inFile('packages/service/src/ledger/moving/arrive.sql');
const bookedBefore = inFile('packages/service/src/ledger/entries/booked_before.sql');
const checkChanges = inFile('packages/service/src/ledger/check/check_changes.sql');
const depart = inFile('packages/service/src/ledger/moving/depart.sql');
const foreignWallet = inFile('packages/service/src/ledger/wallet/refuse_foreign_wallet.sql');
const keptAnswers = inFile('packages/service/src/ledger/moving/kept_answers_of_slot.sql');
const leave = inFile('packages/service/src/ledger/moving/leave.sql');
const moveSlot = inFile('packages/service/src/cells/moving/move-slot.ts');
const ofConnections = inFile('packages/service/src/connections/refuse_leaving.sql');
const ofIdentities = inFile('packages/service/src/people/moving-queries.ts');
const ofPayments = inFile('packages/service/src/payments/records/refuse_leaving.sql');
const movedData = inFile('packages/service/src/cells/moving/moved-data.ts');
const refuseLeaving = inFile('packages/service/src/ledger/moving/refuse_leaving.sql');
const inMoves = ofFile('tests/proofs/cells/cell-moves.test.ts');
const inProofs = ofFile('tests/proofs/cells/cell-proofs.test.ts');

const KILLED = 'CE-04 a move killed at any step goes on';
const GIVEN_UP = 'CE-04 a move that has not arrived can be given up';
const WOKEN = 'CE-04 a process that wakes after its move ended touches nothing';
const CHECKED = 'CE-04 a check during a return forgets no spending';
const SAME_ADDRESS = 'CE-04 CC-25 a wallet goes to the person with its address';
const BARRED = 'CE-04 a move settles open holds first';
const REPEATED = 'CE-04 keys and refunds of one cell count in the other';
const REPLAYED = 'CE-04 CC-14 a retry after a move is not charged again';

/** Faults in moving a slot with the money of its users to another cell. */
export const MOVE_FAULTS: readonly Mutant[] = [
  {
    id: 'move-forgets-spent-of-cap',
    clause: 'WA-08',
    edits: [arrive('if elsewhere > 0 then', 'if elsewhere < 0 then')],
    killer: inMoves(KILLED),
  },
  {
    id: 'move-counts-spent-of-cap-twice',
    clause: 'WA-08',
    edits: [arrive('case when there.cap_month = came.cap_month then there.cap_spent_micros else 0 end', '0')],
    killer: inMoves(KILLED),
  },
  {
    id: 'move-forgets-acts',
    clause: 'WA-09',
    edits: [bookedBefore('from ledger.acts e', 'from ledger.journal e')],
    killer: inMoves(REPEATED),
  },
  {
    id: 'move-leaves-money-behind',
    clause: 'WA-09',
    edits: [depart('if gone.balance_micros > 0 then', 'if gone.balance_micros < 0 then')],
    killer: inMoves(KILLED),
  },
  {
    id: 'move-forgets-what-a-check-runs-over',
    clause: 'WA-09',
    edits: [checkChanges('    where p.version <= excluded.version', '    where p.version is not null')],
    killer: inMoves(CHECKED),
  },
  {
    id: 'move-finds-people-by-their-id',
    clause: 'CE-04',
    edits: [
      ofIdentities(
        'rows[0]?.identity_id ?? id',
        `(taken.rowCount === 0 ? rows[0]?.identity_id : person.identity_id) ?? id`,
      ),
    ],
    killer: inMoves(SAME_ADDRESS),
  },
  {
    id: 'move-forgets-answers-of-a-third-cell',
    clause: 'CE-04',
    edits: [keptAnswers('where a.charged_micros is not null and', 'where a.charged_micros is null and')],
    killer: inMoves(SAME_ADDRESS),
  },
  {
    id: 'move-keeps-rows',
    clause: 'WA-09',
    edits: [moveSlot('await deleteRows(tx, barred);', '')],
    killer: inMoves(KILLED),
  },
  {
    id: 'move-wakes-late-and-deletes',
    clause: 'WA-09',
    edits: [
      moveSlot(
        '(await selectMovingWallets(tx, slot)).filter((wallet) => wallet.move === move)',
        'await selectMovingWallets(tx, slot)',
      ),
    ],
    killer: inMoves(WOKEN),
  },
  {
    id: 'move-wakes-late-and-departs',
    clause: 'WA-01',
    edits: [
      depart(
        'where l.slot = p_slot and l.move = p_move and l.left_at is null\n    order',
        'where l.slot = p_slot and l.left_at is null\n    order',
      ),
    ],
    killer: inMoves(WOKEN),
  },
  {
    id: 'move-wakes-late-and-flips',
    clause: 'WA-01',
    edits: [
      moveSlot('if (now?.moving_to !== to || now.moves !== begun.move) return;', 'if (now?.moving_to !== to) return;'),
    ],
    killer: inMoves(WOKEN),
  },
  {
    id: 'move-given-up-after-it-arrived',
    clause: 'WA-01',
    edits: [
      moveSlot('if ((await selectArrival(databases.to, slot, move))?.has_arrived === true) {', 'if (move < 0) {'),
    ],
    killer: inMoves(GIVEN_UP),
  },
  {
    id: 'move-bars-nobody',
    clause: 'WA-10',
    edits: [
      leave('update ledger.wallets w set is_connected = false,', 'update ledger.wallets w set is_connected = true,'),
    ],
    killer: inMoves(BARRED),
  },
  {
    id: 'move-waits-for-no-call',
    clause: 'WA-10',
    edits: [moveSlot('if (!(await drained(databases.from, slot, drainMs))) {', 'if (drainMs < 0) {')],
    killer: inMoves(BARRED),
  },
  {
    id: 'move-lets-acts-through',
    clause: 'WA-09',
    edits: [
      refuseLeaving(
        'if exists (select from ledger.leaving l',
        'if p_app is null and exists (select from ledger.leaving l',
      ),
    ],
    killer: inMoves(BARRED),
  },
  {
    id: 'move-lets-payments-be-noted',
    clause: 'ON-02',
    edits: [ofPayments('perform ledger.refuse_leaving(new.app_id, new.user_id);', 'perform new.app_id;')],
    killer: inMoves(BARRED),
  },
  {
    id: 'move-lets-connections-change',
    clause: 'WA-15',
    edits: [ofConnections('perform ledger.refuse_leaving(new.app_id, new.user_id);', 'perform new.app_id;')],
    killer: inMoves(BARRED),
  },
  {
    id: 'move-lets-wallets-be-opened',
    clause: 'WA-01',
    edits: [foreignWallet('elsif its.moving_to is not null then', 'elsif its.cell is null then')],
    killer: inMoves(BARRED),
  },
  {
    id: 'move-forgets-kept-answers',
    clause: 'CC-14',
    edits: [movedData('await insertKeptAnswers(tx, moved.answers);', '')],
    killer: inMoves(REPLAYED),
  },
  {
    id: 'move-forgets-that-answers-were-charged',
    clause: 'CC-14',
    edits: [keptAnswers(`to_jsonb(a) || jsonb_build_object('charged_micros', c.charged_micros)`, 'to_jsonb(a)')],
    killer: inMoves(REPLAYED),
  },
  {
    id: 'move-given-up-by-a-stale-command',
    clause: 'WA-10',
    edits: [moveSlot('now === undefined || (only !== undefined && now.moves !== only)', 'now === undefined')],
    killer: inProofs('CE-04 a late command leaves a newer move alone'),
  },
  {
    id: 'move-misses-news-of-payments',
    clause: 'WA-05',
    edits: [movedData('  await noteLookAgain(tx, usersOf(added));\n', '')],
    killer: inProofs('CE-04 payment news lost during a move is found'),
  },
];
