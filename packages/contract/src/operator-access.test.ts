import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATOR_ACCESS, OPERATOR_ROLES } from './operator-access.ts';

/**
 * Who may do what, once more by itself. The service and the tests that call every route read the table, so a wrong line in it would
 * be what they all expect. What a role may see comes first, then its acts with a fresh proof, then those without.
 */
const RIGHTS = {
  viewer: `
    GET /operator/ apps apps/{appId} catalogue health keys/{keyId} ledger/check models/{id}/prices overview stats upstreams
    GET /ops
    GET /ops/ app apps catalogue catalogue-import health key model model-edit price provider`,
  support: `
    GET /operator/ accounts accounts/{accountId} apps/{appId}/wallets/{userId} apps/{appId}/wallets/{userId}/payments audit
    GET /operator/ audit/head calls events/{eventId} find identities identities/{identityId} payments payments/{id} pending
    GET /operator/ sign-ins wallets
    GET /ops/ account accounts audit audit/export audit/sign-ins call event find payment payment-case payments pending
    GET /ops/ person person-delete wallet wallet-refund wallets
    proved POST /operator/ apps/{appId}/wallets/{userId}/refund pending/{pendingId}/confirm pending/{pendingId}/reject
    proved POST /ops/ pending wallet-refund
    POST /operator/ apps/{appId}/wallets/{userId}/preview payments/{id}/look-up
    POST /ops/ payment`,
  finance: `
    GET /operator/ reconciliations
    GET /ops/ bills reconciliation wallet-clawback wallet-credit wallet-open wallet-reinstate
    proved POST /operator/apps/{appId}/ wallets wallets/{userId}/clawback wallets/{userId}/credit wallets/{userId}/reinstate
    proved POST /operator/ payment-cases/{caseId}/solve
    proved POST /ops/ payment-case wallet-clawback wallet-credit wallet-open wallet-reinstate
    POST /operator/ bills reconciliations
    POST /ops/ bills reconciliation`,
  admin: `
    GET /ops/ catalogue-draft person-export person-move wallet-release
    proved DELETE /operator/ aliases/{alias} models/{id} providers/{name}
    proved PATCH /operator/ accounts/{accountId} identities/{identityId}
    proved POST /operator/ accounts apps/{appId}/wallets/{userId}/release identities/{identityId}/delete
    proved POST /operator/ identities/{identityId}/export providers/{name}/test
    proved POST /ops/ account accounts alias catalogue-draft catalogue-import model-delete model-edit person-delete
    proved POST /ops/ person-export person-move price provider provider-delete provider-test wallet-release
    proved PUT /operator/ aliases/{alias} catalogue models/{id} providers/{name}
    PATCH /operator/ apps/{appId}
    POST /operator/ apps/{appId}/resume apps/{appId}/suspend
    POST /ops/ app`,
} as const;

/** Each line has what several rights begin with, and how each of them ends. */
function rightsIn(text: string): readonly string[] {
  return text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, beginning = '', ends = ''] = /^ *((?:proved )?[A-Z]+ \S+) ?(.*)$/.exec(line) ?? [];
      return ends.split(' ').map((end) => beginning + end);
    })
    .toSorted();
}

test('CP-06 CP-07 each role has exactly its rights and proofs', () => {
  for (const role of OPERATOR_ROLES) {
    const rights = Object.entries(OPERATOR_ACCESS).filter(([, { least }]) => least === role);
    const named = rights.map(([name, { needsProof }]) => (needsProof === true ? `proved ${name}` : name));
    assert.deepEqual(named.toSorted(), rightsIn(RIGHTS[role]), role);
  }
});
