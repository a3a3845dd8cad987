import type { Mutant } from '../mutant.ts';
import { inFile, ofFile } from './places.ts';

const cellEnds = inFile('packages/service/src/app/cells.ts');
const cellMarker = inFile('packages/service/src/cells/marker.ts');
const cellMap = inFile('packages/service/src/cells/map.ts');
const cellRequest = inFile('packages/service/src/cells/cell-request.ts');
const question = inFile('packages/service/src/http/cells/question.ts');
const homeLease = inFile('packages/service/src/limits/home-lease.ts');
const leaseToCell = inFile('packages/service/src/limits/lease_to_cell.sql');
const formerCells = inFile('packages/service/src/http/cells/former-cells.ts');
const userUsage = inFile('packages/service/src/app/user-usage.ts');
const everyCell = inFile('packages/service/src/http/cells/every-cell.ts');
const reports = inFile('packages/service/src/app/reports.ts');
const appUsers = inFile('packages/service/src/http/cells/app-users.ts');
const cellTraces = inFile('packages/service/src/http/cells/traces.ts');
const booksCommand = inFile('packages/service/src/cli/cells-books-command.ts');
const checkChanges = inFile('packages/service/src/ledger/check/check_changes.sql');
const cellSlot = inFile('packages/service/src/cells/slot_of.sql');
const foreignWallet = inFile('packages/service/src/ledger/wallet/refuse_foreign_wallet.sql');
const forwarding = inFile('packages/service/src/http/data-plane/forwarding.ts');
const walletIds = inFile('packages/service/src/ledger/wallet/begin_wallet_ids.sql');
const inCells = ofFile('tests/integration/cells.test.ts');
const inBuckets = ofFile('tests/proofs/cells/cell-buckets.test.ts');
const ofLimiter = ofFile('tests/conformance/rate-limiter.test.ts');
const forwarded = ofFile('tests/proofs/cells/cell-forwarding.test.ts');

const inReports = ofFile('tests/proofs/cells/cell-reports.test.ts');

const MOVED = 'CE-06 BI-03 WA-02 a user who has moved finds the calls of before, there and back, as in one cell';
const SUMS =
  'CE-06 CP-04 reports of an app are of all cells, wherever they are asked: sums, pages, keys, and no app sees another';
const MARKED =
  'CE-08 a marker is believed only from a cell of this service, for this cell and this request, for a minute';

const TOKENS =
  'CE-08 tokens go to another cell of this service only: a request that is forged, foreign, old or altered takes none';
const AWAY =
  'CE-05 calls go on while the home of a bucket is away, by a share of the limit, and the whole limit holds once it is back';

/** Faults in what keeps the users of cells apart, in requests that one cell sends to another, in limits over all cells, and in reports. */
export const CELL_FAULTS: readonly Mutant[] = [
  {
    id: 'cell-takes-foreign-wallets',
    clause: 'WA-01',
    edits: [foreignWallet('elsif its.cell is distinct from own then', 'elsif its.cell is null then')],
    killer: inCells('CE-01 WA-01 nobody has a wallet in two cells: a wallet is refused where its user does not belong'),
  },
  {
    id: 'cells-share-wallet-ids',
    clause: 'WA-01',
    edits: [walletIds('greatest(first, nextval(ids))', 'nextval(ids)')],
    killer: inCells('CE-01 the wallets of each cell have ids of their own'),
  },
  {
    id: 'slot-by-other-bits',
    clause: 'WA-01',
    edits: [cellSlot('(get_byte(d.digest, 1) >> 4)', '(get_byte(d.digest, 1) & 15)')],
    killer: inCells('CE-01 a user has the same slot in TypeScript and in SQL'),
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
      'CE-02 a call at the wrong cell is answered and charged once, in the cell of its user, and logged there',
    ),
  },
  {
    id: 'bucket-in-each-cell',
    clause: 'LI-01',
    edits: [cellMap('homeOf: (id) => bySlot[homeSlotOf(id)],', 'homeOf: () => undefined,')],
    killer: inBuckets(
      'CE-05 LI-01 all cells together let through no more than the burst of an app, wherever its bucket is',
    ),
  },
  {
    id: 'tokens-for-anybody',
    clause: 'LI-01',
    edits: [
      cellRequest("if (keyOfProof(keys, Buffer.from(proof, 'base64url'), parts) === undefined) return undefined;", ''),
    ],
    killer: inBuckets(TOKENS),
  },
  {
    id: 'token-request-for-ever',
    clause: 'LI-01',
    edits: [cellRequest('if (Math.abs(clock.nowMs() - Number(atMs)) > VALID_MS) return undefined;', '')],
    killer: inBuckets(TOKENS),
  },
  {
    id: 'token-request-with-any-body',
    clause: 'LI-01',
    edits: [
      question(
        'signed.covers(body) ? question.asked.safeParse(parsed(body)).data : undefined',
        'question.asked.safeParse(parsed(body)).data',
      ),
    ],
    killer: inBuckets(TOKENS),
  },
  {
    id: 'token-request-again',
    clause: 'LI-01',
    edits: [leaseToCell('where a.request < excluded.request;', 'where a.request <= excluded.request;')],
    killer: inBuckets('CE-08 a request for tokens counts once: neither again, nor after a later one of its process'),
  },
  {
    id: 'token-request-overtaken',
    clause: 'LI-01',
    edits: [leaseToCell('where a.request < excluded.request;', 'where a.request <> excluded.request;')],
    killer: inBuckets('CE-08 a request for tokens counts once: neither again, nor after a later one of its process'),
  },
  {
    id: 'share-is-whole',
    clause: 'LI-01',
    edits: [homeLease('Math.floor(whole / cells)', 'whole')],
    killer: inBuckets(AWAY),
  },
  {
    id: 'calls-wait-for-a-home-that-is-away',
    clause: 'LI-01',
    edits: [
      homeLease(
        'const rows = isAway ? undefined : await askHome(holder, asked);',
        'const rows = await askHome(holder, asked);',
      ),
    ],
    killer: inBuckets(AWAY),
  },
  {
    id: 'lease-outlives-home',
    clause: 'LI-01',
    edits: [homeLease('{ ...row, is_held: false,', '{ ...row,')],
    killer: ofLimiter(
      'CE-05 LI-01 what another cell has leased is not spent any more once that cell does not answer: this cell gives its share',
    ),
  },
  {
    id: 'former-cell-has-receipts-for-anybody',
    clause: 'WA-02',
    edits: [userUsage('row?.user_id === userId ? row : null', 'row ?? null')],
    killer: inReports(MOVED),
  },
  {
    id: 'former-cell-asked-again',
    clause: 'BI-03',
    edits: [formerCells('new Set([own])', 'new Set<string>()')],
    killer: inReports(MOVED),
  },
  {
    id: 'sum-without-a-cell-that-is-away',
    clause: 'BI-03',
    edits: [
      formerCells(
        'names.map((name) => ask(named(map.others(), name)))',
        'names.map((name) => ask(named(map.others(), name)).catch(() => ({ found: [] as never, givers: [] })))',
      ),
    ],
    killer: inReports(
      'CE-06 BI-03 what a cell that is away has is neither missing nor left out of a sum, and nobody else notices',
    ),
  },
  {
    id: 'report-of-one-cell',
    clause: 'CP-04',
    edits: [
      everyCell(
        'Promise.all([here(asked), ...map.others().map((cell) => askCell(client, cell, question, asked))])',
        'Promise.all([here(asked)])',
      ),
    ],
    killer: inReports(SUMS),
  },
  {
    id: 'report-without-a-cell-that-is-away',
    clause: 'CP-04',
    edits: [
      everyCell(
        '...map.others().map((cell) => askCell(client, cell, question, asked))])',
        '...map.others().map((cell) => askCell(client, cell, question, asked))]).catch(async () => [await here(asked)])',
      ),
    ],
    killer: inReports(
      'CE-06 CP-04 without the answer of a cell there is no report, and what this cell has alone is found',
    ),
  },
  {
    id: 'receipts-of-other-apps-in-other-cells',
    clause: 'CP-04',
    edits: [reports('const of = appId ?? undefined;', 'const of = appId === null ? undefined : undefined;')],
    killer: inReports(SUMS),
  },
  {
    id: 'check-stops-at-a-gap-of-ids',
    clause: 'WA-09',
    edits: [
      checkChanges(
        'else (select min(w.wallet_id) - 1 from ledger.wallets w where w.wallet_id > p_after + 20 * p_most)',
        'else (select min(w.wallet_id) - 1 from ledger.wallets w where w.wallet_id > p_after + 20 * p_most having count(*) < 0)',
      ),
    ],
    killer: inReports(
      'CE-04 the check of a cell reaches its own wallets and those that came from others, whose ids are far apart',
    ),
  },
  {
    id: 'user-has-spent-in-one-cell',
    clause: 'CP-04',
    edits: [appUsers('rows.reduce((sum, row) => sum + row.spent_micros, 0n)', 'rows[0]?.spent_micros ?? 0n')],
    killer: inReports(
      'CE-06 CP-04 lists of users and of latest calls are of all cells, and a user who has moved has spent what they spent anywhere',
    ),
  },
  {
    id: 'latest-calls-past-what-a-cell-has-read',
    clause: 'CC-19',
    edits: [cellTraces('row.is_found && (end === undefined || newestFirst(row, end) <= 0)', 'row.is_found')],
    killer: ofFile('packages/service/src/http/cells/traces.test.ts')(
      'CE-06 CC-19 pages of the latest calls of all cells have each call once, newest first, however far each cell reads',
    ),
  },
  {
    id: 'books-of-cells-always-right',
    clause: 'CE-06',
    edits: [booksCommand('sum.moved_in - sum.moved_out', '0n * sum.moved_in')],
    killer: inReports(
      'CE-06 the books of all cells are printed, with a difference if what has left one has not arrived in another',
    ),
  },
];
