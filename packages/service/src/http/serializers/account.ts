import { operatorRoleOf } from '#developers/operators/role.ts';
import type { Account } from '#developers/sessions/session.ts';

/** An account with the names that answers have for its role and its second factor. */
export function shownAccount(account: Account) {
  const secondFactor = account.hasSecondFactor ? ('on' as const) : ('off' as const);
  return { ...account, operatorRole: operatorRoleOf(account), secondFactor };
}
