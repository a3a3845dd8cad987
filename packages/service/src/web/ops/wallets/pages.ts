import { WALLET_ACTS } from '@purser/contract/operator-wallets.ts';
import type { PageMethods } from '#web/frame/page.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { actPage } from '#web/ops/wallets/act-page.ts';
import { movePage } from '#web/ops/wallets/move-page.ts';
import { personDeletePage } from '#web/ops/wallets/person-delete.ts';
import { personExportPage } from '#web/ops/wallets/person-export.ts';
import { personPage } from '#web/ops/wallets/person-page.ts';
import { walletPage } from '#web/ops/wallets/wallet-page.ts';
import { walletsPage } from '#web/ops/wallets/wallets-page.ts';

/** Wallets of all apps, what operators do to them, and the people who own them. */
export function opsWalletsPages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return {
    '/ops/wallets': walletsPage(services),
    '/ops/wallet': walletPage(services),
    ...Object.fromEntries(WALLET_ACTS.map((act) => [`/ops/wallet-${act}`, actPage(services, act)])),
    '/ops/person': personPage(services),
    '/ops/person-move': movePage(services),
    '/ops/person-export': personExportPage(services),
    '/ops/person-delete': personDeletePage(services),
  };
}
