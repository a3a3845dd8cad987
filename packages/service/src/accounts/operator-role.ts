import { isAtLeastOperator, type OperatorAccess, type OperatorRole } from '@purser/contract/operator-access.ts';
import { needsProof } from '#accounts/fresh-proof.ts';
import type { Account, SignedIn } from '#accounts/session.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** How strict the service is with its operators. */
export interface OperatorRules {
  /** An operator without a second factor is refused everything. So it is in production (CP-06). */
  readonly isSecondFactorRequired: boolean;
}

/**
 * Refuses somebody who may not use a route or page for operators: an owner, an operator without the second factor that they
 * need, one whose role is too low, and one without a fresh proof where it moves money, keys or rights (CP-05, CP-06, CP-07).
 * In development, an operator without a second factor needs no fresh proof: it would be the same password again.
 */
export function operatorRefusal(
  signedIn: SignedIn,
  access: OperatorAccess,
  { isSecondFactorRequired }: OperatorRules,
): Refusal<'FORBIDDEN'> | undefined {
  const { account } = signedIn;
  const role = operatorRoleOf(account);
  if (role === undefined) return refuse('FORBIDDEN', 'Only operators of the service may do this.');
  if (isSecondFactorRequired && !account.hasSecondFactor) return needsFactor();
  if (!isAtLeastOperator(role, access.least)) {
    return refuse(
      'FORBIDDEN',
      `Your role is \`${role}\`. This needs \`${access.least}\`: ask an admin of the service.`,
    );
  }
  const isProofNeeded = access.needsProof === true && (account.hasSecondFactor || isSecondFactorRequired);
  return isProofNeeded ? needsProof(signedIn) : undefined;
}

/**
 * Refuses an operator without the second factor that they need everything but adding one: a person who knows the password alone must not use
 * their apps and keys either (CP-06). `path` is of a route or a page.
 */
export function factorRefusal(
  { account }: SignedIn,
  path: string,
  { isSecondFactorRequired }: OperatorRules,
): Refusal<'FORBIDDEN'> | undefined {
  if (!isSecondFactorRequired || account.role !== 'operator' || account.hasSecondFactor) return undefined;
  return isOpenWithoutFactor(path) ? undefined : needsFactor();
}

/** True for the routes and pages where an operator adds the first factor, and signs out. */
export function isOpenWithoutFactor(path: string): boolean {
  return WITHOUT_FACTOR.test(path);
}

const WITHOUT_FACTOR =
  /^\/(?:sessions|accounts\/current\/(?:second-factor|authenticator|passkeys)|account\/(?:second-factor|authenticator|passkeys|prove|sessions)|sign-(?:in|out)|password-reset|guides|ops)(?:\/|$)|^\/(?:account|[^/]+\.(?:ico|svg|png))?$/;

function needsFactor(): Refusal<'FORBIDDEN'> {
  return refuse(
    'FORBIDDEN',
    'Operators need a second factor here. Sign in at `/account/second-factor`, add a passkey or an authenticator app, and try again.',
  );
}

/** The role among operators. Undefined for owners. */
export function operatorRoleOf({ role, operatorRole }: Account): OperatorRole | undefined {
  return role === 'operator' ? (operatorRole ?? 'viewer') : undefined;
}
