import { createAppProfiles } from '#accounts/app-profile.ts';
import type { Config } from '#app/config.ts';
import type { Pool } from '#db/pool.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { createSandboxWallets } from '#sandbox/sandbox-wallet.ts';
import { createUsage } from '#usage/usage.ts';

interface ReadersOptions {
  /** For reads of the data plane. */
  readonly db: Pool;
  /** Those of the planes. */
  readonly pools: { readonly planes: Pool; readonly sandbox: Pool };
  readonly config: Config;
}

/** What the routes of the data plane beside the calls act on. */
export function openReaders({ db, pools, config }: ReadersOptions) {
  const { currency, sandboxGrant: grant } = config;
  return {
    wallets: createWallets(db),
    usage: createUsage(db),
    apps: createAppProfiles(db),
    sandboxWallets: createSandboxWallets({ pool: pools.sandbox, trail: pools.planes, grant }),
    currency,
  };
}
