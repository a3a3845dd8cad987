import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { operatorRefusal } from '#developers/operators/role.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import { newAccountId, newSessionId } from '#kernel/values/ids.ts';

const PRODUCTION = { isSecondFactorRequired: true };
const DEVELOPMENT = { isSecondFactorRequired: false };
const MONEY = { least: 'finance', needsProof: true } as const;
const LOOK = { least: 'viewer' } as const;

function session(role: OperatorRole | undefined, { hasSecondFactor = false, isProved = false } = {}): SignedIn {
  return {
    account: {
      accountId: newAccountId(),
      email: 'a@example.test',
      name: undefined,
      role: role === undefined ? 'owner' : 'operator',
      operatorRole: role,
      isDisabled: false,
      isEmailVerified: true,
      hasSecondFactor,
      isSso: false,
      createdAtMs: 0,
    },
    session: { sessionId: newSessionId(), createdAtMs: 0, expiresAtMs: 0, lastUsedAtMs: 0 },
    isProved,
  };
}

test('CP-06 a production operator without a second factor is refused everything', () => {
  const passwordAlone = session('admin', { isProved: true });
  assert.match(operatorRefusal(passwordAlone, LOOK, PRODUCTION)?.message ?? '', /second factor/);
  assert.equal(operatorRefusal(session('admin', { hasSecondFactor: true }), LOOK, PRODUCTION), undefined);
  assert.equal(operatorRefusal(passwordAlone, LOOK, DEVELOPMENT), undefined);
});

test('CP-06 money needs a fresh proof wherever a second factor exists', () => {
  const stolen = session('finance', { hasSecondFactor: true });
  for (const rules of [PRODUCTION, DEVELOPMENT]) {
    assert.match(operatorRefusal(stolen, MONEY, rules)?.message ?? '', /fresh proof/);
    assert.equal(operatorRefusal(stolen, LOOK, rules), undefined);
    const proved = session('finance', { hasSecondFactor: true, isProved: true });
    assert.equal(operatorRefusal(proved, MONEY, rules), undefined);
  }
  assert.equal(operatorRefusal(session('finance'), MONEY, DEVELOPMENT), undefined);
});

test('CP-07 a role includes the lower ones, and an owner has none', () => {
  assert.match(operatorRefusal(session('support'), MONEY, DEVELOPMENT)?.message ?? '', /`support`.*`finance`/);
  assert.equal(operatorRefusal(session('admin'), MONEY, DEVELOPMENT), undefined);
  assert.match(operatorRefusal(session(undefined), LOOK, DEVELOPMENT)?.message ?? '', /Only operators/);
});
