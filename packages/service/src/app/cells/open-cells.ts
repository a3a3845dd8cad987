import type { KeyDirectory } from '#developers/keys/directory.ts';
import { openCellBudgets } from '#app/cells/budgets.ts';
import { startComparing } from '#app/cells/directory-comparison.ts';
import { openRates } from '#app/cells/rates.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import { createCellClient } from '#cells/routing/cell-client.ts';
import { createCellRequests } from '#cells/routing/cell-request.ts';
import { readDirectory } from '#cells/directory/compare.ts';
import { selectComparison } from '#cells/directory/compare-queries.ts';
import { startHeartbeat } from '#cells/directory/heartbeat.ts';
import { selectCopyAge } from '#cells/directory/queries.ts';
import { createCellMap } from '#cells/routing/map.ts';
import { createMarkers } from '#cells/routing/marker.ts';
import { type CallerAddress, createExactAddress } from '#http/requests/caller-address.ts';
import type { EndCall } from '#http/data-plane/call-end.ts';
import { createForwarding, type Forwarding } from '#http/forwarding/forwarding.ts';
import { answerBy, askBy, type CellPeers, type CellRoute } from '#http/cells/questions/question.ts';
import { TOKENS } from '#http/cells/apps/rate-tokens.ts';
import { DIRECTORY_STATE } from '#http/cells/operators/directory.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { placeOverCells } from '#ledger/budgets/holds-over-cells.ts';
import type { Holds } from '#ledger/holds.ts';
import { leaseTokensToCell } from '#limits/queries.ts';
import { createRateLimiter, type RateLimiter } from '#limits/rate-limit.ts';

/** The way to other cells, the rate limits that all cells share, and the addresses of callers that came from there. */
export interface Cells extends Stoppable {
  /** How this cell asks others, and answers them. Undefined if there are none. */
  readonly peers: CellPeers | undefined;
  readonly forwarding: Forwarding | undefined;
  readonly rateLimiter: RateLimiter;
  /** Holds whose keys' budgets count over all cells. */
  readonly overCells: (holds: Holds) => Holds;
  /** What ends a call. One that was forwarded is ended where it went. */
  readonly endOnce: (endCall: EndCall) => EndCall;
  /** What gateways of other cells may ask. */
  readonly cellRoutes: readonly CellRoute[];
  readonly addressOf: CallerAddress;
  /** How old the copy of the directory is in a database, and how it was when it was last compared. */
  readonly copyAge: typeof selectCopyAge;
  readonly comparison: typeof selectComparison;
  /** Ends the connections to other cells, once nothing needs them. */
  readonly close: () => void;
}

/** Without PURSER_CELL nothing is added to any request. The map is loaded with the others that are kept in memory. */
export function openCells(ground: Ground, directory: Pick<KeyDirectory, 'find'>): Cells {
  const { config, pools, keys, clock, log } = ground;
  const { cell, callBodyBytesMax: bodyBytesMax } = config;
  const addressOf = createExactAddress(config.proxyHops, log);
  if (cell === undefined) return { ...ALONE, rateLimiter: createRateLimiter(pools.rates, steadyClock), addressOf };
  const map = createCellMap(pools.upkeep, cell);
  const markers = createMarkers(cell, keys.proof('cells'), clock);
  const forwarding = createForwarding({ keys: directory, map, markers, addressOf, bodyBytesMax, log });
  const requests = createCellRequests(cell, keys.proof('cell-requests'), clock);
  const client = createCellClient(requests);
  const [ask, answer] = [askBy(client), answerBy(requests)];
  const jobs = [startHeartbeat(pools.upkeep, log), startComparing({ db: pools.reports, ask, log })];
  const peers: CellPeers = { own: cell, map, ask, answer };
  const budgets = openCellBudgets(ground, peers);
  const lease = answer(TOKENS, (request) => leaseTokensToCell(pools.rates, request));
  const directoryState = answer(DIRECTORY_STATE, () => readDirectory(pools.reports));
  return {
    ...COPY,
    peers,
    forwarding,
    rateLimiter: openRates(ground, peers),
    cellRoutes: [lease, directoryState, ...budgets.routes],
    overCells: (holds) => ({ ...holds, place: placeOverCells(holds.place, budgets.findRoom) }),
    endOnce: (endCall) => (exchange, notes) => {
      if (!forwarding.has(exchange)) endCall(exchange, notes);
    },
    addressOf: (request) => markers.read(request.headers)?.address ?? addressOf(request),
    stop: () => Promise.all(jobs.map(({ stop }) => stop())),
    close: () => {
      forwarding.close();
      client.close();
    },
  };
}

const COPY = { copyAge: selectCopyAge, comparison: selectComparison };

const ALONE = {
  ...COPY,
  peers: undefined,
  forwarding: undefined,
  overCells: (holds) => holds,
  endOnce: (endCall) => endCall,
  cellRoutes: [],
  stop: () => Promise.resolve(),
  close: () => {},
} satisfies Partial<Cells>;
