import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Account } from '#developers/sessions/session.ts';
import { isoOf } from '#kernel/time/clock.ts';

/** An account on the wire. Nothing about its password, not even when it was changed. */
export function accountToWire(account: Account) {
  const { accountId, email, name, role, isEmailVerified: emailVerified, hasSecondFactor, createdAtMs } = account;
  const secondFactor = hasSecondFactor ? ('on' as const) : ('off' as const);
  return {
    accountId,
    email,
    name: name ?? null,
    role,
    operatorRole: operatorRoleOf(account) ?? null,
    emailVerified,
    secondFactor,
    createdAt: isoOf(createdAtMs),
  };
}
