import type { Person } from '#people/session.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { agentsPage } from '#web/wallet/agents-page.ts';
import { movementsFile } from '#web/movements/movements-file.ts';
import { refundPage } from '#web/wallet/refund.ts';
import { sessionsPage } from '#web/movements/sessions-page.ts';
import { alertsForm, capForm, disconnectPage, pauseForm, reconnectForm, topUpForm } from '#web/wallet/settings.ts';
import { walletListPage } from '#web/wallet/wallet-list.ts';
import { walletPage } from '#web/wallet/wallet-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

/** What owners do with their wallets (ON-04). `:part` is the id of a connection. */
export function walletPages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/wallet': walletListPage(services),
    '/wallet/:part': walletPage(services),
    '/wallet/:part/topup': topUpForm(services),
    '/wallet/:part/cap': capForm(services),
    '/wallet/:part/alerts': alertsForm(services),
    '/wallet/:part/pause': pauseForm(services),
    '/wallet/:part/disconnect': disconnectPage(services),
    '/wallet/:part/reconnect': reconnectForm(services),
    '/wallet/:part/refund': refundPage(services),
    '/wallet/:part/agents': agentsPage(services),
    '/wallet/:part/sessions': sessionsPage(services),
    '/wallet/:part/movements.csv': movementsFile(services),
  };
}
