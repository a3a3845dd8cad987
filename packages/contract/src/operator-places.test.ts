import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATOR_ACCESS, OPERATOR_ROLES } from './operator-access.ts';

/** The pages that do the same as a route, or show what it will do. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'GET /operator/overview': ['GET /ops'],
  'GET /operator/stats': ['GET /ops', 'GET /ops/app'],
  'GET /operator/find': ['GET /ops/find'],
  'GET /operator/apps': ['GET /ops/apps'],
  'GET /operator/apps/{appId}': ['GET /ops/app'],
  'PATCH /operator/apps/{appId}': ['POST /ops/app'],
  'POST /operator/apps/{appId}/suspend': ['POST /ops/app'],
  'POST /operator/apps/{appId}/resume': ['POST /ops/app'],
  'GET /operator/keys/{keyId}': ['GET /ops/key'],
  'GET /operator/events/{eventId}': ['GET /ops/event'],
  'GET /operator/wallets': ['GET /ops/wallets'],
  'POST /operator/apps/{appId}/wallets': ['POST /ops/wallet-open'],
  'POST /operator/apps/{appId}/wallets/{userId}/preview': [
    'GET /ops/wallet-open',
    'GET /ops/wallet-credit',
    'GET /ops/wallet-refund',
    'GET /ops/wallet-clawback',
    'GET /ops/wallet-reinstate',
    'GET /ops/wallet-release',
  ],
  'GET /operator/apps/{appId}/wallets/{userId}': ['GET /ops/wallet'],
  'GET /operator/apps/{appId}/wallets/{userId}/payments': ['GET /ops/wallet'],
  'POST /operator/apps/{appId}/wallets/{userId}/credit': ['POST /ops/wallet-credit'],
  'POST /operator/apps/{appId}/wallets/{userId}/refund': ['POST /ops/wallet-refund'],
  'POST /operator/apps/{appId}/wallets/{userId}/clawback': ['POST /ops/wallet-clawback'],
  'POST /operator/apps/{appId}/wallets/{userId}/reinstate': ['POST /ops/wallet-reinstate'],
  'POST /operator/apps/{appId}/wallets/{userId}/release': ['POST /ops/wallet-release'],
  'GET /operator/pending': ['GET /ops/pending'],
  'POST /operator/pending/{pendingId}/confirm': ['POST /ops/pending'],
  'POST /operator/pending/{pendingId}/reject': ['POST /ops/pending'],
  'GET /operator/identities': ['GET /ops/person'],
  'GET /operator/identities/{identityId}': ['GET /ops/person', 'GET /ops/person-delete'],
  'PATCH /operator/identities/{identityId}': ['GET /ops/person-move', 'POST /ops/person-move'],
  'POST /operator/identities/{identityId}/export': ['GET /ops/person-export', 'POST /ops/person-export'],
  'POST /operator/identities/{identityId}/delete': ['POST /ops/person-delete'],
  'GET /operator/payments': ['GET /ops/payments'],
  'GET /operator/payments/{id}': ['GET /ops/payment'],
  'POST /operator/payments/{id}/look-up': ['POST /ops/payment'],
  'POST /operator/payment-cases/{caseId}/solve': ['GET /ops/payment-case', 'POST /ops/payment-case'],
  'GET /operator/reconciliations': ['GET /ops/reconciliation'],
  'POST /operator/reconciliations': ['POST /ops/reconciliation'],
  'POST /operator/bills': ['GET /ops/bills', 'POST /ops/bills'],
  'GET /operator/catalogue': ['GET /ops/catalogue', 'GET /ops/model', 'GET /ops/provider', 'GET /ops/model-edit'],
  'PUT /operator/catalogue': [
    'GET /ops/catalogue-import',
    'POST /ops/catalogue-import',
    'GET /ops/catalogue-draft',
    'POST /ops/catalogue-draft',
  ],
  'PUT /operator/models/{id}': ['POST /ops/model-edit', 'POST /ops/price'],
  'GET /operator/models/{id}/prices': ['GET /ops/model', 'GET /ops/price'],
  'DELETE /operator/models/{id}': ['POST /ops/model-delete'],
  'PUT /operator/aliases/{alias}': ['POST /ops/alias'],
  'DELETE /operator/aliases/{alias}': ['POST /ops/alias'],
  'PUT /operator/providers/{name}': ['POST /ops/provider'],
  'DELETE /operator/providers/{name}': ['POST /ops/provider-delete'],
  'POST /operator/providers/{name}/test': ['POST /ops/provider-test'],
  // The page has what the checks found. It starts none: a full one reads every wallet.
  'GET /operator/ledger/check': ['GET /ops/health'],
  'GET /operator/health': ['GET /ops/health'],
  'GET /operator/upstreams': ['GET /ops/catalogue', 'GET /ops/provider'],
  'GET /operator/calls': ['GET /ops/call'],
  'GET /operator/audit': ['GET /ops/audit', 'GET /ops/audit/export'],
  'GET /operator/audit/head': ['GET /ops/audit'],
  'GET /operator/sign-ins': ['GET /ops/audit/sign-ins'],
  'GET /operator/accounts': ['GET /ops/accounts'],
  'GET /operator/accounts/{accountId}': ['GET /ops/account'],
  'POST /operator/accounts': ['POST /ops/accounts'],
  'PATCH /operator/accounts/{accountId}': ['POST /ops/account'],
};

test('CP-10 operator routes match console pages one to one', () => {
  const names = Object.keys(OPERATOR_ACCESS);
  assert.deepEqual(Object.keys(PAGES).toSorted(), names.filter((name) => name.includes(' /operator/')).toSorted());
  const pages = new Set(Object.values(PAGES).flat());
  assert.deepEqual([...pages].toSorted(), names.filter((name) => / \/ops\b/.test(name)).toSorted());
});

test('CP-07 a page needs at least its routes’ role and proof', () => {
  const roles: readonly string[] = OPERATOR_ROLES;
  const weaker: string[] = [];
  for (const [route, pages] of Object.entries(PAGES)) {
    const { least, needsProof } = OPERATOR_ACCESS[route] ?? assert.fail(route);
    for (const page of pages.filter((name) => name.startsWith('POST ') && !route.startsWith('GET '))) {
      const access = OPERATOR_ACCESS[page] ?? assert.fail(page);
      const isLower = roles.indexOf(access.least) < roles.indexOf(least);
      if (isLower || (needsProof === true && access.needsProof !== true)) weaker.push(`${page}: ${route}`);
    }
  }
  assert.deepEqual(weaker, []);
});
