import { WALLET_ACTS } from '@purser/contract/operator-wallets.ts';
import type { PageMethods } from '#web/frame/page.ts';
import type { OpsPage, OpsServices } from '#web/ops/frame/asked.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import { opsPath } from '#web/ops/frame/details.ts';
import { accountPage, accountsPage } from '#web/ops/apps/accounts-pages.ts';
import { appPage, appsPage, eventPage, keyPage } from '#web/ops/apps/apps-pages.ts';
import { auditPage, exportPage, signInsPage } from '#web/ops/audit/audit-pages.ts';
import { billsPage } from '#web/ops/bills/bills-page.ts';
import { reconciliationPage } from '#web/ops/bills/reconciliation-page.ts';
import { cataloguePage } from '#web/ops/catalogue/catalogue-page.ts';
import { draftPage, importPage } from '#web/ops/imports/import-pages.ts';
import { aliasForm, modelDeleteForm, modelPage } from '#web/ops/models/model-page.ts';
import { modelEditPage } from '#web/ops/models/model-edit.ts';
import { pricePage } from '#web/ops/models/price-page.ts';
import { providerDeleteForm, providerPage, providerTestForm } from '#web/ops/providers/provider-pages.ts';
import { callPage, findPage } from '#web/ops/home/look-up-pages.ts';
import { overviewPage } from '#web/ops/home/overview-page.ts';
import { casePage, paymentPage } from '#web/ops/payments/payment-pages.ts';
import { paymentsPage } from '#web/ops/payments/payments-page.ts';
import { pendingPage } from '#web/ops/pending/pending-page.ts';
import { walletActPage } from '#web/ops/wallets/act-page.ts';
import { personDeletePage, personExportPage, personMovePage, personPage } from '#web/ops/wallets/person-pages.ts';
import { walletPage, walletsPage } from '#web/ops/wallets/wallet-pages.ts';
import { healthPage } from '#web/ops/health/health-page.ts';

/** Every page for operators, by what follows `/ops/` in its address. */
const PAGES: Readonly<Record<string, OpsPage>> = {
  '': overviewPage,
  find: findPage,
  call: callPage,
  wallets: walletsPage,
  wallet: walletPage,
  ...Object.fromEntries(WALLET_ACTS.map((act) => [`wallet-${act}`, walletActPage(act)])),
  person: personPage,
  'person-move': personMovePage,
  'person-export': personExportPage,
  'person-delete': personDeletePage,
  payments: paymentsPage,
  payment: paymentPage,
  'payment-case': casePage,
  reconciliation: reconciliationPage,
  bills: billsPage,
  apps: appsPage,
  app: appPage,
  key: keyPage,
  event: eventPage,
  accounts: accountsPage,
  account: accountPage,
  pending: pendingPage,
  catalogue: cataloguePage,
  model: modelPage,
  'model-edit': modelEditPage,
  price: pricePage,
  alias: aliasForm,
  'model-delete': modelDeleteForm,
  'catalogue-import': importPage,
  'catalogue-draft': draftPage,
  provider: providerPage,
  'provider-delete': providerDeleteForm,
  'provider-test': providerTestForm,
  health: healthPage,
  audit: auditPage,
  'audit/sign-ins': signInsPage,
  'audit/export': exportPage,
};

export function opsPages(services: OpsServices): Readonly<Record<string, PageMethods>> {
  return Object.fromEntries(Object.entries(PAGES).map(([page, of]) => [opsPath(page), forOperator(services, of)]));
}
