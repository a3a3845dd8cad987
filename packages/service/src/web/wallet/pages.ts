import { agentsPage } from '#web/wallet/agents-page.ts';
import { movementsFile } from '#web/movements/movements-file.ts';
import { refundPage } from '#web/wallet/refund.ts';
import { sessionsPage } from '#web/movements/pages.ts';
import { alertsForm, capForm, disconnectPage, pauseForm, reconnectForm, topUpForm } from '#web/wallet/settings.ts';
import { walletListPage } from '#web/wallet/wallet-list.ts';
import { walletPage } from '#web/wallet/wallet-page.ts';
import type { WalletOwnerMethods, WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** What owners do with their wallets (ON-04). `:part` is the id of a connection. */
export function walletPages(services: WalletOwnerServices): Readonly<Record<string, WalletOwnerMethods>> {
  return {
    '/wallet': walletListPage,
    '/wallet/:part': walletPage,
    '/wallet/:part/topup': topUpForm,
    '/wallet/:part/cap': capForm,
    '/wallet/:part/alerts': alertsForm,
    '/wallet/:part/pause': pauseForm,
    '/wallet/:part/disconnect': disconnectPage,
    '/wallet/:part/reconnect': reconnectForm,
    '/wallet/:part/refund': refundPage(services),
    '/wallet/:part/agents': agentsPage,
    '/wallet/:part/sessions': sessionsPage,
    '/wallet/:part/movements.csv': movementsFile,
  };
}
