import type { KeyDirectory } from '#developers/keys/directory.ts';
import { openCellBudgets } from '#app/cells/budgets.ts';
import { startComparing } from '#app/cells/directory-comparison.ts';
import { openRates } from '#app/cells/rates.ts';
import type { Config } from '#app/settings/config.ts';
import { type CellClient, createCellClient } from '#cells/routing/cell-client.ts';
import { type CellRequests, createCellRequests } from '#cells/routing/cell-request.ts';
import { startHeartbeat } from '#cells/directory/heartbeat.ts';
import { type CellMap, createCellMap } from '#cells/routing/map.ts';
import { createMarkers } from '#cells/routing/marker.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import type { EndCall } from '#http/data-plane/call-end.ts';
import type { DataPlane } from '#http/data-plane/data-plane.ts';
import { createForwarding, type Forwarding } from '#http/forwarding/forwarding.ts';
import { answerCells, type CellRoute } from '#http/cells/questions/question.ts';
import { TOKENS } from '#http/cells/apps/rate-tokens.ts';
import { type Clock, steadyClock } from '#kernel/time/clock.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import { placeOverCells } from '#ledger/budgets/holds-over-cells.ts';
import type { Holds } from '#ledger/holds.ts';
import { leaseTokensToCell } from '#limits/queries.ts';
import { createRateLimiter, type RateLimiter } from '#limits/rate-limit.ts';

interface CellOptions {
  readonly config: Pick<Config, 'cell' | 'callBodyBytesMax'>;
  readonly db: Pool;
  /** The pool for the buckets of rate limits. */
  readonly rates: Pool;
  /** The pool for statements that take long. */
  readonly reports: Pool;
  /** The pool for the budgets of API keys. */
  readonly reads: Pool;
  readonly keys: Keys;
  /** The directory of keys, without single-use keys. */
  readonly directory: Pick<KeyDirectory, 'find'>;
  readonly addressOf: CallerAddress;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The way to other cells, the rate limits that all cells share, and the addresses of callers that came from there. Without PURSER_CELL
 * nothing is added to any request. The map is loaded with the others that are kept in memory.
 */
export function openCells(options: CellOptions): Cells {
  const { config, db, rates, reads, keys, directory, addressOf, clock, log } = options;
  const { cell } = config;
  if (cell === undefined) {
    const rateLimiter = createRateLimiter(rates, steadyClock);
    return { ...ALONE, rateLimiter, addressOf };
  }
  const map = createCellMap(db, cell);
  const markers = createMarkers(cell, keys.proof('cells'), clock);
  const forwarding = createForwarding({
    keys: directory,
    map,
    markers,
    addressOf,
    bodyBytesMax: config.callBodyBytesMax,
    log,
  });
  const requests = createCellRequests(cell, keys.proof('cell-requests'), clock);
  const client = createCellClient(requests);
  const jobs = [startHeartbeat(db, log), startComparing({ db: options.reports, client, log })];
  const peers = { own: cell, map, requests, client };
  const { findRoom, routes } = openCellBudgets({ db: reads, ...peers, log });
  return {
    map,
    peers,
    forwarding,
    rateLimiter: openRates({ pool: rates, client, map, log }),
    routes: [answerCells(requests, TOKENS, (request) => leaseTokensToCell(rates, request)), ...routes],
    overCells: (holds) => ({ ...holds, place: placeOverCells(holds.place, findRoom) }),
    addressOf: (request) => markers.read(request.headers)?.address ?? addressOf(request),
    stop: async () => {
      await Promise.all(jobs.map(({ stop }) => stop()));
    },
    close: () => {
      forwarding.close();
      client.close();
    },
  };
}

/** How this cell asks others, and answers them. */
export interface CellPeers {
  /** The name of this cell. */
  readonly own: string;
  readonly map: CellMap;
  readonly requests: CellRequests;
  readonly client: CellClient;
}

interface Cells {
  readonly map: CellMap | undefined;
  readonly peers: CellPeers | undefined;
  readonly forwarding: Forwarding | undefined;
  readonly rateLimiter: RateLimiter;
  /** Holds whose keys' budgets count over all cells. */
  readonly overCells: (holds: Holds) => Holds;
  /** What gateways of other cells may ask. */
  readonly routes: readonly CellRoute[];
  readonly addressOf: CallerAddress;
  readonly stop: () => Promise<void>;
  /** Ends the connections to other cells, once nothing needs them. */
  readonly close: () => void;
}

const ALONE = {
  map: undefined,
  peers: undefined,
  forwarding: undefined,
  overCells: (holds) => holds,
  routes: [],
  stop: () => Promise.resolve(),
  close: () => {},
} satisfies Partial<Cells>;

/** The ways to and from other cells, and what ends a call. One that was forwarded is ended where it went. */
export function endsOf(
  endCall: EndCall,
  { forwarding, routes }: Pick<Cells, 'forwarding' | 'routes'>,
  more: readonly CellRoute[],
): Pick<DataPlane, 'endCall' | 'forwarding' | 'cellRoutes'> {
  if (forwarding === undefined) return { endCall };
  return {
    endCall: (exchange, notes) => {
      if (!forwarding.has(exchange)) endCall(exchange, notes);
    },
    forwarding,
    cellRoutes: [...routes, ...more],
  };
}
