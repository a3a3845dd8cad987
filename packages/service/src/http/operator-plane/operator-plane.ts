import type { FastifyRequest } from 'fastify';
import type { OwnApps } from '#accounts/app.ts';
import type { Teams } from '#accounts/team.ts';
import type { CallerAddress } from '#http/caller-address.ts';
import { callerOf } from '#http/control-plane/control-plane.ts';
import type { UpstreamReport } from '#gateway/upstream/report.ts';
import type { CallFinder } from '#http/find-calls.ts';
import type { Attention } from '#operator/attention.ts';
import type { CallBooks } from '#operator/call-books.ts';
import type { FoundElsewhere } from '#http/cells/find.ts';
import type { FindAnything } from '#operator/find.ts';
import type { AuditReader } from '#operator/audit.ts';
import type { Health } from '#operator/health.ts';
import type { AuditSearch } from '#operator/audit-search.ts';
import type { AccountDesk } from '#operator/accounts.ts';
import type { Act } from '#operator/acts.ts';
import type { AnyApps } from '#operator/apps.ts';
import type { CatalogueDesk } from '#operator/catalogue.ts';
import type { PaymentDesk } from '#operator/payment-desk.ts';
import type { MoneyLimits } from '#operator/limits.ts';
import type { LookUp } from '#operator/look-up.ts';
import type { AnyPayments } from '#operator/payments.ts';
import type { CatalogueImport } from '#operator/catalogue-import.ts';
import type { PendingActs } from '#operator/pending.ts';
import type { ProviderTest } from '#operator/provider-test.ts';
import type { WalletList } from '#operator/wallet-list.ts';
import type { WalletOwners } from '#operator/wallet-owners.ts';
import type { Previews } from '#operator/wallet-preview.ts';
import type { OperatorWallets } from '#operator/wallets.ts';
import type { Privacy } from '#privacy/privacy.ts';
import type { ProviderBills } from '#reconciliation/bills.ts';
import type { Reconciliations } from '#reconciliation/reconciliations.ts';
import type { OtherCellAttention } from '#http/cells/attention.ts';
import type { Clock } from '#kernel/clock.ts';
import type { CallId } from '#kernel/ids.ts';
import type { Stats } from '#stats/stats.ts';
import type { LedgerCheck } from '#ledger/check/check.ts';
import type { DeliveryHistory } from '#webhooks/history.ts';
import type { WhenEverywhere } from '#kernel/when-everywhere.ts';

/** What the routes for operators need. */
export interface OperatorPlane extends LookUp {
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
  readonly payments: AnyPayments;
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
