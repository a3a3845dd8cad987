import type { Mutant } from '../mutant.ts';
import { inFile, ofFile } from './places.ts';

const cellEnds = inFile('packages/service/src/app/cells.ts');
const cellMarker = inFile('packages/service/src/cells/marker.ts');
const cellSlot = inFile('packages/service/src/cells/slot_of.sql');
const foreignWallet = inFile('packages/service/src/ledger/wallet/refuse_foreign_wallet.sql');
const forwarding = inFile('packages/service/src/http/data-plane/forwarding.ts');
const walletIds = inFile('packages/service/src/ledger/wallet/begin_wallet_ids.sql');
const inCells = ofFile('tests/integration/cells.test.ts');
const forwarded = ofFile('tests/integration/cell-forwarding.test.ts');

const MARKED = 'a marker is believed only from a cell of this service, for this cell and this request, for a minute';

/** Faults in what keeps the users of cells apart, and in requests that one cell sends to another. */
export const CELL_FAULTS: readonly Mutant[] = [
  {
    id: 'cell-takes-foreign-wallets',
    clause: 'WA-01',
    edits: [foreignWallet('if its is distinct from own then', 'if its is null then')],
    killer: inCells('WA-01 nobody has a wallet in two cells: a wallet is refused where its user does not belong'),
  },
  {
    id: 'cells-share-wallet-ids',
    clause: 'WA-01',
    edits: [walletIds('greatest(first, nextval(ids))', 'nextval(ids)')],
    killer: inCells('the wallets of each cell have ids of their own'),
  },
  {
    id: 'slot-by-other-bits',
    clause: 'WA-01',
    edits: [cellSlot('(get_byte(d.digest, 1) >> 4)', '(get_byte(d.digest, 1) & 15)')],
    killer: inCells('a user has the same slot in TypeScript and in SQL'),
  },
  {
    id: 'marker-without-address',
    clause: 'CP-08',
    edits: [
      cellMarker('signed(own, to, atMs, from, correlationId)', 'signed(own, to, atMs, correlationId)'),
      cellMarker('signed(from, own, atMs, address, correlationId)', 'signed(from, own, atMs, correlationId)'),
    ],
    killer: forwarded(MARKED),
  },
  {
    id: 'marker-for-ever',
    clause: 'CP-08',
    edits: [cellMarker('if (Math.abs(clock.nowMs() - Number(atMs)) > VALID_MS) return undefined;', '')],
    killer: forwarded(MARKED),
  },
  {
    id: 'marker-ignored',
    clause: 'CP-08',
    edits: [
      forwarding(
        'if (marked === undefined) {',
        'if (marked === undefined) return handle(exchange);\n    if (marked === undefined) {',
      ),
    ],
    killer: forwarded(MARKED),
  },
  {
    id: 'forwarded-call-noted-twice',
    clause: 'CC-19',
    edits: [cellEnds('if (!forwarding.has(exchange)) endCall(exchange, notes);', 'endCall(exchange, notes);')],
    killer: forwarded(
      'a call at the wrong cell is answered and charged once, in the cell of its user, and logged there',
    ),
  },
];
