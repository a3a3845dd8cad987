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

/** Who may open each page under `/ops`, and who may send its form. One that is not opened has only a form, which is on another page. */
const PAGES: Readonly<Record<string, PageAccess>> = {
  '': [VIEWER],
  payments: [SUPPORT],
  payment: [SUPPORT, SUPPORT],
  'payment-case': [SUPPORT, FINANCE_PROVED],
  reconciliation: [FINANCE, FINANCE],
  bills: [FINANCE, FINANCE],
  find: [SUPPORT],
  call: [SUPPORT],
  apps: [VIEWER],
  app: [VIEWER, ADMIN],
  key: [VIEWER],
  event: [SUPPORT],
  accounts: [SUPPORT, ADMIN_PROVED],
  account: [SUPPORT, ADMIN_PROVED],
  pending: [SUPPORT, SUPPORT_PROVED],
  catalogue: [VIEWER],
  model: [VIEWER],
  'model-edit': [VIEWER, ADMIN_PROVED],
  price: [VIEWER, ADMIN_PROVED],
  'model-delete': [undefined, ADMIN_PROVED],
  alias: [undefined, ADMIN_PROVED],
  provider: [VIEWER, ADMIN_PROVED],
  'provider-delete': [undefined, ADMIN_PROVED],
  'provider-test': [undefined, ADMIN_PROVED],
  'catalogue-import': [VIEWER, ADMIN_PROVED],
  'catalogue-draft': [ADMIN, ADMIN_PROVED],
  health: [VIEWER],
  audit: [SUPPORT],
  'audit/sign-ins': [SUPPORT],
  'audit/export': [SUPPORT],
  wallets: [SUPPORT],
  wallet: [SUPPORT],
  'wallet-open': [FINANCE, FINANCE_PROVED],
  'wallet-credit': [FINANCE, FINANCE_PROVED],
  'wallet-refund': [SUPPORT, SUPPORT_PROVED],
  'wallet-clawback': [FINANCE, FINANCE_PROVED],
  'wallet-reinstate': [FINANCE, FINANCE_PROVED],
  'wallet-release': [ADMIN, ADMIN_PROVED],
  person: [SUPPORT],
  'person-move': [ADMIN, ADMIN_PROVED],
  'person-export': [ADMIN, ADMIN_PROVED],
  'person-delete': [SUPPORT, ADMIN_PROVED],
};

type PageAccess = readonly [opened: OperatorAccess | undefined, sent?: OperatorAccess];

function accessesOf(page: string, [opened, sent]: PageAccess): readonly (readonly [string, OperatorAccess])[] {
  const path = page === '' ? '/ops' : `/ops/${page}`;
  return [
    ...(opened === undefined ? [] : [[`GET ${path}`, opened] as const]),
    ...(sent === undefined ? [] : [[`POST ${path}`, sent] as const]),
  ];
}

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
  ...Object.fromEntries(Object.entries(PAGES).flatMap(([page, access]) => accessesOf(page, access))),
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
