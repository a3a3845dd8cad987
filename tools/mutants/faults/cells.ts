import type { Mutant } from '../mutant.ts';
import { inFile, ofFile } from './places.ts';

const cellEnds = inFile('packages/service/src/app/cells/open-cells.ts');
const cellMarker = inFile('packages/service/src/cells/routing/marker.ts');
const cellMap = inFile('packages/service/src/cells/routing/map.ts');
const cellRequest = inFile('packages/service/src/cells/routing/cell-request.ts');
const question = inFile('packages/service/src/http/cells/questions/question.ts');
const homeLease = inFile('packages/service/src/limits/home-lease.ts');
const leaseToCell = inFile('packages/service/src/limits/lease_to_cell.sql');
const formerCells = inFile('packages/service/src/http/cells/wallets/former-cells.ts');
const userUsage = inFile('packages/service/src/app/reports/user-usage.ts');
const everyCell = inFile('packages/service/src/http/cells/questions/every-cell.ts');
const reports = inFile('packages/service/src/app/reports/reports.ts');
const appUsers = inFile('packages/service/src/http/cells/apps/users.ts');
const cellTraces = inFile('packages/service/src/http/cells/apps/traces.ts');
const booksCommand = inFile('packages/service/src/cli/cells/books-command.ts');
const checkChanges = inFile('packages/service/src/ledger/check/check_changes.sql');
const cellSlot = inFile('packages/service/src/cells/topology/slot_of.sql');
const foreignWallet = inFile('packages/service/src/ledger/wallet/refuse_foreign_wallet.sql');
const forwarding = inFile('packages/service/src/http/forwarding/forwarding.ts');
const walletIds = inFile('packages/service/src/ledger/wallet/begin_wallet_ids.sql');
const inCells = ofFile('tests/integration/cells.test.ts');
const inBuckets = ofFile('tests/proofs/cells/cell-buckets.test.ts');
const ofLimiter = ofFile('tests/conformance/rate-limiter.test.ts');
const forwarded = ofFile('tests/proofs/cells/cell-forwarding.test.ts');

const inReports = ofFile('tests/proofs/cells/cell-reports.test.ts');

const MOVED = 'CE-06 BI-03 WA-02 a user who has moved finds all earlier calls';
const SUMS = 'CE-06 CP-04 an app’s reports cover all cells';
const MARKED = 'CE-08 a marker counts for one request and a minute';

const TOKENS = 'CE-08 only a genuine request from another cell takes tokens';
const AWAY = 'CE-05 calls get a share while the home is away';

/** Faults in what keeps the users of cells apart, in requests that one cell sends to another, in limits over all cells, and in reports. */
export const CELL_FAULTS: readonly Mutant[] = [
  {
    id: 'cell-takes-foreign-wallets',
    clause: 'WA-01',
    edits: [foreignWallet('elsif its.cell is distinct from own then', 'elsif its.cell is null then')],
    killer: inCells('CE-01 WA-01 a wallet is refused outside its user’s cell'),
  },
  {
    id: 'cells-share-wallet-ids',
    clause: 'WA-01',
    edits: [walletIds('greatest(first, nextval(ids))', 'nextval(ids)')],
    killer: inCells('CE-01 the wallets of each cell have distinct ids'),
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
    killer: forwarded('CE-02 a call at the wrong cell is charged at home'),
  },
  {
    id: 'bucket-in-each-cell',
    clause: 'LI-01',
    edits: [cellMap('homeOf: (id) => bySlot[homeSlotOf(id)],', 'homeOf: () => undefined,')],
    killer: inBuckets('CE-05 LI-01 all cells together keep to an app’s burst'),
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
    killer: inBuckets('CE-08 a repeated or late request takes no tokens'),
  },
  {
    id: 'token-request-overtaken',
    clause: 'LI-01',
    edits: [leaseToCell('where a.request < excluded.request;', 'where a.request <> excluded.request;')],
    killer: inBuckets('CE-08 a repeated or late request takes no tokens'),
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
    killer: ofLimiter('CE-05 LI-01 a cell gives only its own share when another is silent'),
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
        'names.map((name) => ask(named(map.others(), name), question, asked))',
        'names.map((name) => ask(named(map.others(), name), question, asked).catch(() => ({ found: [] as never, givers: [] })))',
      ),
    ],
    killer: inReports('CE-06 BI-03 a cell away affects only its own users'),
  },
  {
    id: 'report-of-one-cell',
    clause: 'CP-04',
    edits: [
      everyCell(
        'Promise.all([here(asked), ...map.others().map((cell) => ask(cell, question, asked))])',
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
        '...map.others().map((cell) => ask(cell, question, asked))])',
        '...map.others().map((cell) => ask(cell, question, asked))]).catch(async () => [await here(asked)])',
      ),
    ],
    killer: inReports('CE-06 CP-04 no report appears without every cell’s answer'),
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
    killer: inReports('CE-04 a check reaches wallets that came from elsewhere'),
  },
  {
    id: 'user-has-spent-in-one-cell',
    clause: 'CP-04',
    edits: [appUsers('rows.reduce((sum, row) => sum + row.spent_micros, 0n)', 'rows[0]?.spent_micros ?? 0n')],
    killer: inReports('CE-06 CP-04 lists of users and calls cover all cells'),
  },
  {
    id: 'latest-calls-past-what-a-cell-has-read',
    clause: 'CC-19',
    edits: [cellTraces('row.is_found && (end === undefined || newestFirst(row, end) <= 0)', 'row.is_found')],
    killer: ofFile('packages/service/src/http/cells/apps/traces.test.ts')(
      'CE-06 CC-19 pages over all cells have each call once, newest first',
    ),
  },
  {
    id: 'books-of-cells-always-right',
    clause: 'CE-06',
    edits: [booksCommand('sum.moved_in - sum.moved_out', '0n * sum.moved_in')],
    killer: inReports('CE-06 the books show what has left and not arrived'),
  },
];
