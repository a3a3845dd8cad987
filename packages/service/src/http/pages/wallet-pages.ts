import type { PeoplePages } from '#http/pages/people-pages.ts';
import type { PageMethods } from '#http/pages/visit.ts';
import { walletPage } from '#http/pages/wallet.ts';
import { connectionPage } from '#http/pages/wallet-connection.ts';
import { movementsFile } from '#http/pages/wallet-csv.ts';
import { refundPage } from '#http/pages/wallet-refund.ts';
import { capPage, disconnectPage, pausePage, reconnectPage, topUpPage } from '#http/pages/wallet-settings.ts';
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
