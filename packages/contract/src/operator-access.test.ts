import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATOR_ACCESS, OPERATOR_ROLES } from './operator-access.ts';

/**
 * Who may do what, once more by itself. The service and the tests that call every route read the table, so a wrong line in it would
 * be what they all expect. `shown` is asked for with GET.
 */
const RIGHTS = {
  viewer: {
    shown: [
      '/operator/apps',
      '/operator/apps/{appId}',
      '/operator/catalogue',
      '/operator/health',
      '/operator/keys/{keyId}',
      '/operator/ledger/check',
      '/operator/models/{id}/prices',
      '/operator/overview',
      '/operator/stats',
      '/operator/upstreams',
      '/ops',
      '/ops/app',
      '/ops/apps',
      '/ops/catalogue',
      '/ops/catalogue-import',
      '/ops/health',
      '/ops/key',
      '/ops/model',
      '/ops/model-edit',
      '/ops/price',
      '/ops/provider',
    ],
    proved: [],
    unproved: [],
  },
  support: {
    shown: [
      '/operator/accounts',
      '/operator/accounts/{accountId}',
      '/operator/apps/{appId}/wallets/{userId}',
      '/operator/apps/{appId}/wallets/{userId}/payments',
      '/operator/audit',
      '/operator/audit/head',
      '/operator/calls',
      '/operator/events/{eventId}',
      '/operator/find',
      '/operator/identities',
      '/operator/identities/{identityId}',
      '/operator/payments',
      '/operator/payments/{id}',
      '/operator/pending',
      '/operator/sign-ins',
      '/operator/wallets',
      '/ops/account',
      '/ops/accounts',
      '/ops/audit',
      '/ops/audit/export',
      '/ops/audit/sign-ins',
      '/ops/call',
      '/ops/event',
      '/ops/find',
      '/ops/payment',
      '/ops/payment-case',
      '/ops/payments',
      '/ops/pending',
      '/ops/person',
      '/ops/person-delete',
      '/ops/wallet',
      '/ops/wallet-refund',
      '/ops/wallets',
    ],
    proved: [
      'POST /operator/apps/{appId}/wallets/{userId}/refund',
      'POST /operator/pending/{pendingId}/confirm',
      'POST /operator/pending/{pendingId}/reject',
      'POST /ops/pending',
      'POST /ops/wallet-refund',
    ],
    unproved: [
      'POST /operator/apps/{appId}/wallets/{userId}/preview',
      'POST /operator/payments/{id}/look-up',
      'POST /ops/payment',
    ],
  },
  finance: {
    shown: [
      '/operator/reconciliations',
      '/ops/bills',
      '/ops/reconciliation',
      '/ops/wallet-clawback',
      '/ops/wallet-credit',
      '/ops/wallet-open',
      '/ops/wallet-reinstate',
    ],
    proved: [
      'POST /operator/apps/{appId}/wallets',
      'POST /operator/apps/{appId}/wallets/{userId}/clawback',
      'POST /operator/apps/{appId}/wallets/{userId}/credit',
      'POST /operator/apps/{appId}/wallets/{userId}/reinstate',
      'POST /operator/payment-cases/{caseId}/solve',
      'POST /ops/payment-case',
      'POST /ops/wallet-clawback',
      'POST /ops/wallet-credit',
      'POST /ops/wallet-open',
      'POST /ops/wallet-reinstate',
    ],
    unproved: ['POST /operator/bills', 'POST /operator/reconciliations', 'POST /ops/bills', 'POST /ops/reconciliation'],
  },
  admin: {
    shown: ['/ops/catalogue-draft', '/ops/person-export', '/ops/person-move', '/ops/wallet-release'],
    proved: [
      'DELETE /operator/aliases/{alias}',
      'DELETE /operator/models/{id}',
      'DELETE /operator/providers/{name}',
      'PATCH /operator/accounts/{accountId}',
      'PATCH /operator/identities/{identityId}',
      'POST /operator/accounts',
      'POST /operator/apps/{appId}/wallets/{userId}/release',
      'POST /operator/identities/{identityId}/delete',
      'POST /operator/identities/{identityId}/export',
      'POST /operator/providers/{name}/test',
      'POST /ops/account',
      'POST /ops/accounts',
      'POST /ops/alias',
      'POST /ops/catalogue-draft',
      'POST /ops/catalogue-import',
      'POST /ops/model-delete',
      'POST /ops/model-edit',
      'POST /ops/person-delete',
      'POST /ops/person-export',
      'POST /ops/person-move',
      'POST /ops/price',
      'POST /ops/provider',
      'POST /ops/provider-delete',
      'POST /ops/provider-test',
      'POST /ops/wallet-release',
      'PUT /operator/aliases/{alias}',
      'PUT /operator/catalogue',
      'PUT /operator/models/{id}',
      'PUT /operator/providers/{name}',
    ],
    unproved: [
      'PATCH /operator/apps/{appId}',
      'POST /operator/apps/{appId}/resume',
      'POST /operator/apps/{appId}/suspend',
      'POST /ops/app',
    ],
  },
} as const;

test('CP-06 CP-07 each role has exactly its rights and proofs', () => {
  for (const role of OPERATOR_ROLES) {
    const names = Object.entries(OPERATOR_ACCESS).filter(([, { least }]) => least === role);
    const acts = names.filter(([name]) => !name.startsWith('GET '));
    const actsWith = (isProved: boolean) =>
      acts.filter(([, { needsProof = false }]) => needsProof === isProved).map(([name]) => name);
    const shown = names.filter(([name]) => name.startsWith('GET ')).map(([name]) => name.slice('GET '.length));
    const rights = { shown: shown.toSorted(), proved: actsWith(true).toSorted(), unproved: actsWith(false).toSorted() };
    assert.deepEqual(rights, RIGHTS[role], role);
  }
});
