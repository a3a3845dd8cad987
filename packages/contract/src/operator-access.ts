/** What an operator may do, from the least to the most. Each role may do everything that the roles before it may. */
export const OPERATOR_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The least role for a route or page, and whether it needs a fresh proof of who acts. */
export interface OperatorAccess {
  readonly least: OperatorRole;
  /** Moves money, sends providers' keys somewhere, or changes who may act: see `developers/operators/role.ts`. */
  readonly needsProof?: true;
}

const VIEWER: OperatorAccess = { least: 'viewer' };
const SUPPORT: OperatorAccess = { least: 'support' };
const SUPPORT_PROVED: OperatorAccess = { least: 'support', needsProof: true };
const FINANCE: OperatorAccess = { least: 'finance' };
const FINANCE_PROVED: OperatorAccess = { least: 'finance', needsProof: true };
const ADMIN: OperatorAccess = { least: 'admin' };
const ADMIN_PROVED: OperatorAccess = { least: 'admin', needsProof: true };

/**
 * Who may use every route under `/operator` and every page under `/ops` (CP-07, decision 66). The service does not start with
 * one that is not here. A viewer sees figures, the catalogue and apps. Support also sees wallets, calls and people, and refunds.
 * Finance moves money. An admin does everything.
 */
export const OPERATOR_ACCESS: Readonly<Record<string, OperatorAccess>> = {
  'GET /operator/overview': VIEWER,
  'GET /operator/stats': VIEWER,
  'GET /operator/find': SUPPORT,

  'GET /operator/apps': VIEWER,
  'GET /operator/apps/{appId}': VIEWER,
  'PATCH /operator/apps/{appId}': ADMIN,
  'POST /operator/apps/{appId}/suspend': ADMIN,
  'POST /operator/apps/{appId}/resume': ADMIN,
  'GET /operator/keys/{keyId}': VIEWER,
  'GET /operator/events/{eventId}': SUPPORT,

  'GET /operator/wallets': SUPPORT,
  'POST /operator/apps/{appId}/wallets': FINANCE_PROVED,
  'POST /operator/apps/{appId}/wallets/{userId}/preview': SUPPORT,
  'GET /operator/apps/{appId}/wallets/{userId}': SUPPORT,
  'GET /operator/apps/{appId}/wallets/{userId}/payments': SUPPORT,
  'POST /operator/apps/{appId}/wallets/{userId}/credit': FINANCE_PROVED,
  'POST /operator/apps/{appId}/wallets/{userId}/refund': SUPPORT_PROVED,
  'POST /operator/apps/{appId}/wallets/{userId}/clawback': FINANCE_PROVED,
  'POST /operator/apps/{appId}/wallets/{userId}/reinstate': FINANCE_PROVED,
  'POST /operator/apps/{appId}/wallets/{userId}/release': ADMIN_PROVED,
  'GET /operator/pending': SUPPORT,
  'POST /operator/pending/{pendingId}/confirm': SUPPORT_PROVED,
  'POST /operator/pending/{pendingId}/reject': SUPPORT_PROVED,
  'GET /operator/identities': SUPPORT,
  'GET /operator/identities/{identityId}': SUPPORT,
  'PATCH /operator/identities/{identityId}': ADMIN_PROVED,
  'POST /operator/identities/{identityId}/export': ADMIN_PROVED,
  'POST /operator/identities/{identityId}/delete': ADMIN_PROVED,

  'GET /operator/payments': SUPPORT,
  'GET /operator/payments/{id}': SUPPORT,
  'POST /operator/payments/{id}/look-up': SUPPORT,
  'POST /operator/payment-cases/{caseId}/solve': FINANCE_PROVED,
  'GET /operator/reconciliations': FINANCE,
  'POST /operator/reconciliations': FINANCE,
  'POST /operator/bills': FINANCE,

  'GET /operator/catalogue': VIEWER,
  'PUT /operator/catalogue': ADMIN_PROVED,
  'PUT /operator/models/{id}': ADMIN_PROVED,
  'GET /operator/models/{id}/prices': VIEWER,
  'DELETE /operator/models/{id}': ADMIN_PROVED,
  'PUT /operator/aliases/{alias}': ADMIN_PROVED,
  'DELETE /operator/aliases/{alias}': ADMIN_PROVED,
  'PUT /operator/providers/{name}': ADMIN_PROVED,
  'DELETE /operator/providers/{name}': ADMIN_PROVED,
  'POST /operator/providers/{name}/test': ADMIN_PROVED,

  'GET /operator/ledger/check': VIEWER,
  'GET /operator/health': VIEWER,
  'GET /operator/upstreams': VIEWER,
  'GET /operator/calls': SUPPORT,
  'GET /operator/audit': SUPPORT,
  'GET /operator/audit/head': SUPPORT,
  'GET /operator/sign-ins': SUPPORT,
  'GET /operator/accounts': SUPPORT,
  'GET /operator/accounts/{accountId}': SUPPORT,
  'POST /operator/accounts': ADMIN_PROVED,
  'PATCH /operator/accounts/{accountId}': ADMIN_PROVED,

  'GET /ops': VIEWER,
  'GET /ops/payments': SUPPORT,
  'GET /ops/payment': SUPPORT,
  'POST /ops/payment': SUPPORT,
  'GET /ops/payment-case': SUPPORT,
  'POST /ops/payment-case': FINANCE_PROVED,
  'GET /ops/reconciliation': FINANCE,
  'POST /ops/reconciliation': FINANCE,
  'GET /ops/bills': FINANCE,
  'POST /ops/bills': FINANCE,
  'GET /ops/find': SUPPORT,
  'GET /ops/call': SUPPORT,
  'GET /ops/apps': VIEWER,
  'GET /ops/app': VIEWER,
  'POST /ops/app': ADMIN,
  'GET /ops/key': VIEWER,
  'GET /ops/event': SUPPORT,
  'GET /ops/accounts': SUPPORT,
  'POST /ops/accounts': ADMIN_PROVED,
  'GET /ops/account': SUPPORT,
  'POST /ops/account': ADMIN_PROVED,
  'GET /ops/pending': SUPPORT,
  'POST /ops/pending': SUPPORT_PROVED,
  'GET /ops/catalogue': VIEWER,
  'GET /ops/model': VIEWER,
  'GET /ops/model-edit': VIEWER,
  'POST /ops/model-edit': ADMIN_PROVED,
  'GET /ops/price': VIEWER,
  'POST /ops/price': ADMIN_PROVED,
  'POST /ops/model-delete': ADMIN_PROVED,
  'POST /ops/alias': ADMIN_PROVED,
  'GET /ops/provider': VIEWER,
  'POST /ops/provider': ADMIN_PROVED,
  'POST /ops/provider-delete': ADMIN_PROVED,
  'POST /ops/provider-test': ADMIN_PROVED,
  'GET /ops/catalogue-import': VIEWER,
  'POST /ops/catalogue-import': ADMIN_PROVED,
  'GET /ops/catalogue-draft': ADMIN,
  'POST /ops/catalogue-draft': ADMIN_PROVED,
  'GET /ops/health': VIEWER,
  'GET /ops/audit': SUPPORT,
  'GET /ops/audit/sign-ins': SUPPORT,
  'GET /ops/audit/export': SUPPORT,

  'GET /ops/wallets': SUPPORT,
  'GET /ops/wallet': SUPPORT,
  'GET /ops/wallet-open': FINANCE,
  'POST /ops/wallet-open': FINANCE_PROVED,
  'GET /ops/wallet-credit': FINANCE,
  'POST /ops/wallet-credit': FINANCE_PROVED,
  'GET /ops/wallet-refund': SUPPORT,
  'POST /ops/wallet-refund': SUPPORT_PROVED,
  'GET /ops/wallet-clawback': FINANCE,
  'POST /ops/wallet-clawback': FINANCE_PROVED,
  'GET /ops/wallet-reinstate': FINANCE,
  'POST /ops/wallet-reinstate': FINANCE_PROVED,
  'GET /ops/wallet-release': ADMIN,
  'POST /ops/wallet-release': ADMIN_PROVED,
  'GET /ops/person': SUPPORT,
  'GET /ops/person-move': ADMIN,
  'POST /ops/person-move': ADMIN_PROVED,
  'GET /ops/person-export': ADMIN,
  'POST /ops/person-export': ADMIN_PROVED,
  'GET /ops/person-delete': SUPPORT,
  'POST /ops/person-delete': ADMIN_PROVED,
};

/** Whether a role may do what needs at least the other. */
export function isAtLeastOperator(role: OperatorRole, least: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(least);
}

/** Who may use a route or page, such as `GET /operator/apps`. A name that is not in the table is a fault, so nobody can open what was forgotten here. */
export function operatorAccessOf(name: string): OperatorAccess {
  const access = OPERATOR_ACCESS[name];
  if (access === undefined) throw new Error(`\`${name}\` is not in contract/src/operator-access.ts.`);
  return access;
}
