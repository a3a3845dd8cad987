import type { FastifyRequest } from 'fastify';
import type { OwnApps } from '#developers/app.ts';
import type { Teams } from '#developers/teams/team.ts';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import { callerOf } from '#http/planes/control-plane.ts';
import type { UpstreamReport } from '#gateway/upstream/report.ts';
import type { CallFinder } from '#http/planes/find-calls.ts';
import type { Attention } from '#operator/health/attention.ts';
import type { CallBooks } from '#operator/look-up/call-books.ts';
import type { FoundElsewhere } from '#http/cells/operators/find.ts';
import type { FindAnything } from '#operator/look-up/find.ts';
import type { AuditReader, AuditSearch } from '#operator/look-up/audit-trail.ts';
import type { Health } from '#operator/health/health.ts';
import type { AccountDesk } from '#operator/people/accounts.ts';
import type { Act } from '#operator/acts/act.ts';
import type { AnyApps } from '#operator/people/apps.ts';
import type { CatalogueDesk } from '#operator/catalogue/catalogue.ts';
import type { PaymentDesk } from '#operator/money/payment-desk.ts';
import type { MoneyLimits } from '#operator/acts/money-limits.ts';
import type { KeysAndEvents } from '#operator/look-up/keys-and-events.ts';
import type { Payment } from '#payments/refunds/refunds.ts';
import type { CatalogueImport } from '#operator/catalogue/import.ts';
import type { PendingActs } from '#operator/money/confirmations.ts';
import type { ProviderTest } from '#operator/catalogue/provider-test.ts';
import type { OperatorWallets, WalletList } from '#operator/money/wallets.ts';
import type { WalletOwners } from '#operator/people/wallet-owners.ts';
import type { Previews } from '#operator/money/wallet-preview.ts';
import type { Privacy } from '#privacy/privacy.ts';
import type { ProviderBills } from '#reconciliation/bills/bills.ts';
import type { Reconciliations } from '#reconciliation/reports/reconciliations.ts';
import type { OtherCellAttention } from '#http/cells/operators/attention.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { AppId, CallId, EndUserId } from '#kernel/values/ids.ts';
import type { Stats } from '#calls/stats/stats.ts';
import type { LedgerCheck } from '#ledger/check/check.ts';
import type { DeliveryHistory } from '#webhooks/history/history.ts';
import type { WhenEverywhere } from '#kernel/work/when-everywhere.ts';

/** What the routes for operators need. */
export interface OperatorPlane extends KeysAndEvents {
  /** The name of this cell. Undefined if there are no cells. */
  readonly cell: string | undefined;
  readonly apps: AnyApps;
  readonly whenEverywhere: WhenEverywhere;
  readonly wallets: OperatorWallets;
  readonly pending: PendingActs;
  /** What operators may move, by role. Undefined if nothing bounds them. */
  readonly limits: MoneyLimits | undefined;
  readonly walletOwners: WalletOwners;
  readonly privacy: Privacy;
  readonly walletList: WalletList;
  readonly previews: Previews;
  /** The newest 100 payments into a wallet, by any processor. */
  readonly paymentsInto: (appId: AppId, userId: EndUserId) => Promise<readonly Payment[]>;
  readonly paymentDesk: PaymentDesk;
  readonly reconciliations: Reconciliations;
  readonly bills: ProviderBills;
  readonly catalogue: CatalogueDesk;
  readonly providerTest: ProviderTest;
  readonly catalogueImport: CatalogueImport;
  readonly accounts: AccountDesk;
  readonly audit: AuditReader;
  readonly auditSearch: AuditSearch;
  readonly calls: CallFinder;
  /** What a call did to the books. */
  readonly callBooks: (callId: CallId) => Promise<CallBooks>;
  readonly readAttention: () => Promise<Attention>;
  /** What needs a person in all other cells. Empty if there are none. */
  readonly readAttentionElsewhere: () => Promise<readonly OtherCellAttention[]>;
  readonly find: FindAnything;
  /** Which of all other cells have something of an id. Empty if there are none. */
  readonly findElsewhere: (text: string) => Promise<readonly FoundElsewhere[]>;
  /** The keys and the members of any app, as its owners see them. */
  readonly listKeys: OwnApps['listKeys'];
  readonly teams: Pick<Teams, 'list'>;
  readonly deliveries: Pick<DeliveryHistory, 'history'>;
  readonly stats: Stats;
  readonly clock: Clock;
  readonly readUpstreams: () => readonly UpstreamReport[];
  readonly addressOf: CallerAddress;
  readonly readHealth: () => Promise<Health>;
  readonly checkLedger: () => Promise<LedgerCheck>;
}

/** Who acts, and why, for the audit trail. The actor is always the session's account, never a field of the request. */
export function actOf(
  { addressOf, limits }: Pick<OperatorPlane, 'addressOf' | 'limits'>,
  request: FastifyRequest,
  reason: string | undefined,
): Act {
  const { accountId, email } = callerOf(request).account;
  return { actor: accountId, actorName: email, from: addressOf(request.raw), reason, limits };
}
