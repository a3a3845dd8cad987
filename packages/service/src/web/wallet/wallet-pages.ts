import type { PeoplePages } from '#web/person/people-pages.ts';
import type { PageMethods } from '#web/frame/visit.ts';
import { walletPage } from '#web/wallet/wallet.ts';
import { connectionPage } from '#web/wallet/wallet-connection.ts';
import { movementsFile } from '#web/wallet/wallet-csv.ts';
import { refundPage } from '#web/wallet/wallet-refund.ts';
import { capPage, disconnectPage, pausePage, reconnectPage, topUpPage } from '#web/wallet/wallet-settings.ts';
import type { Person } from '#identities/session.ts';

/** What a person does with wallets that are there (ON-04). `:part` is a connection's id. */
export function walletPages(pages: PeoplePages): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/wallet': walletPage(pages),
    '/wallet/:part': connectionPage(pages),
    '/wallet/:part/topup': topUpPage(pages),
    '/wallet/:part/cap': capPage(pages),
    '/wallet/:part/pause': pausePage(pages),
    '/wallet/:part/disconnect': disconnectPage(pages),
    '/wallet/:part/reconnect': reconnectPage(pages),
    '/wallet/:part/refund': refundPage(pages),
    '/wallet/:part/movements.csv': movementsFile(pages),
  };
}
