import type { CellClient } from '#cells/routing/cell-client.ts';
import type { CellRequests } from '#cells/routing/cell-request.ts';
import type { CellMap } from '#cells/routing/map.ts';

/** How this cell asks others, and answers them. There are none without PURSER_CELL. */
export interface CellPeers {
  /** The name of this cell. */
  readonly own: string;
  readonly map: CellMap;
  readonly requests: CellRequests;
  readonly client: CellClient;
}
