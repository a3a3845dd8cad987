import { createAppProfiles } from '#accounts/app-profile.ts';
import type { CellReach } from '#app/cells.ts';
import type { Config } from '#app/config.ts';
import { openUserUsage } from '#app/user-usage.ts';
import type { Pool } from '#db/pool.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { createSandboxWallets } from '#sandbox/sandbox-wallet.ts';

interface ReadersOptions {
  /** For reads of the data plane. */
  readonly db: Pool;
  /** Those of the planes. */
  readonly pools: { readonly planes: Pool; readonly sandbox: Pool };
  readonly config: Config;
  readonly reach: CellReach | undefined;
}

/** What the routes of the data plane beside the calls act on. */
export function openReaders({ db, pools, config, reach }: ReadersOptions) {
  const wallets = createWallets(db);
  const { currency, sandboxGrant: grant } = config;
  return {
    wallets,
    ...openUserUsage({ db, wallets, reach }),
    apps: createAppProfiles(db),
    sandboxWallets: createSandboxWallets({ pool: pools.sandbox, trail: pools.planes, grant }),
    currency,
  };
}
