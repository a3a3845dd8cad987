import { createAppProfiles } from '#developers/apps/profile.ts';
import type { CellPeers } from '#app/cells/open-cells.ts';
import type { Config } from '#app/settings/config.ts';
import { openCellPeople } from '#app/cells/people.ts';
import { openReports } from '#app/reports/reports.ts';
import { openUserMovements } from '#app/reports/user-movements.ts';
import { openUserUsage } from '#app/reports/user-usage.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { createSandboxWallets } from '#sandbox/wallets/sandbox-wallets.ts';

interface ReadersOptions {
  /** The pool for reads of the data plane. */
  readonly db: Pool;
  /** The pools of the planes. */
  readonly pools: { readonly planes: Pool; readonly sandbox: Pool; readonly reports: Pool };
  readonly config: Config;
  readonly peers: CellPeers | undefined;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the routes of the data plane beside the calls act on, the reports of the planes, the way to other cells, and what those may ask of all. */
export function openReaders({ db, pools, config, peers, ...of }: ReadersOptions) {
  const wallets = createWallets(db);
  const { usage, cellRoutes: ofUsers } = openUserUsage({ db, wallets, peers });
  const { cellRoutes: ofReports, ...reports } = openReports({ pools, clock: of.clock, peers });
  const { history, cellRoutes: ofHistory } = openUserMovements({ pool: pools.planes, peers, log: of.log });
  const { currency, sandboxGrant: grant } = config;
  const { otherCells, cellRoutes: ofPeople } = openCellPeople({ config, pool: pools.planes, peers, ...of });
  return {
    wallets,
    usage,
    reports,
    history,
    otherCells,
    peers,
    cellRoutes: [...ofUsers, ...ofReports, ...ofPeople, ...ofHistory],
    apps: createAppProfiles(db),
    sandboxWallets: createSandboxWallets({ pool: pools.sandbox, trail: pools.planes, grant }),
    currency,
  };
}
