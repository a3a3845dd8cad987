import { createAppProfiles } from '#accounts/app-profile.ts';
import type { CellReach } from '#app/cells.ts';
import type { Config } from '#app/config.ts';
import { openReports } from '#app/reports.ts';
import { openUserUsage } from '#app/user-usage.ts';
import type { Pool } from '#db/pool.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { createSandboxWallets } from '#sandbox/sandbox-wallet.ts';

interface ReadersOptions {
  /** For reads of the data plane. */
  readonly db: Pool;
  /** Those of the planes. */
  readonly pools: { readonly planes: Pool; readonly sandbox: Pool; readonly reports: Pool };
  readonly config: Config;
  readonly reach: CellReach | undefined;
}

/** What the routes of the data plane beside the calls act on, the reports of the planes, and what other cells may ask of both. */
export function openReaders({ db, pools, config, reach }: ReadersOptions) {
  const wallets = createWallets(db);
  const { usage, cellRoutes: ofUsers } = openUserUsage({ db, wallets, reach });
  const { cellRoutes: ofReports, ...reports } = openReports({ pools, reach });
  const { currency, sandboxGrant: grant } = config;
  return {
    wallets,
    usage,
    reports,
    cellRoutes: [...ofUsers, ...ofReports],
    apps: createAppProfiles(db),
    sandboxWallets: createSandboxWallets({ pool: pools.sandbox, trail: pools.planes, grant }),
    currency,
  };
}
