import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import type { PageMethods } from '#web/frame/page-handlers.ts';
import { walletListPage } from '#web/wallet/wallet-list.ts';
import { walletPage } from '#web/wallet/wallet-page.ts';
import { movementsFile } from '#web/wallet/movements-file.ts';
import { refundPage } from '#web/wallet/refund.ts';
import { capPage, disconnectPage, pausePage, reconnectPage, topUpPage } from '#web/wallet/settings.ts';
import type { Person } from '#identities/session.ts';

/** What a person does with wallets that are there (ON-04). `:part` is a connection's id. */
export function walletPages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/wallet': walletListPage(services),
    '/wallet/:part': walletPage(services),
    '/wallet/:part/topup': topUpPage(services),
    '/wallet/:part/cap': capPage(services),
    '/wallet/:part/pause': pausePage(services),
    '/wallet/:part/disconnect': disconnectPage(services),
    '/wallet/:part/reconnect': reconnectPage(services),
    '/wallet/:part/refund': refundPage(services),
    '/wallet/:part/movements.csv': movementsFile(services),
  };
}
