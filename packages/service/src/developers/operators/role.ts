import { isAtLeastOperator, type OperatorAccess, type OperatorRole } from '@purser/contract/operator-access.ts';
import { needsProof } from '#developers/sessions/fresh-proof.ts';
import type { Account, SignedIn } from '#developers/sessions/session.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** How strict the service is with its operators. */
export interface OperatorRules {
  /** An operator without a second factor is refused everything. So it is in production (CP-06). */
  readonly isSecondFactorRequired: boolean;
  /** Operators get in through the provider only, all but the one of the settings. If it is undefined, they may also use a password. */
  readonly onlySso?: { readonly name: string; readonly except: string | undefined } | undefined;
}

/**
 * Refuses somebody who may not use a route or page for operators: an owner, an operator without the second factor that they
 * need, one whose role is too low, and one without a fresh proof where it moves money, keys or rights (CP-05, CP-06, CP-07).
 * In development, an operator without a second factor needs no fresh proof: it would be the same password again.
 */
export function operatorRefusal(
  signedIn: SignedIn,
  access: OperatorAccess,
  rules: OperatorRules,
): Refusal<'FORBIDDEN'> | undefined {
  const { account } = signedIn;
  const role = operatorRoleOf(account);
  if (role === undefined) return refuse('FORBIDDEN', 'Only operators of the service may do this.');
  const { onlySso } = rules;
  if (isSsoMissing(account, rules)) {
    return refuse(
      'FORBIDDEN',
      `Operators sign in through ${onlySso?.name ?? 'the provider'} here. Your account has a password: link it at \`/account/sso\`.`,
    );
  }
  if (isFactorMissing(account, rules)) return needsFactor();
  if (!isAtLeastOperator(role, access.least)) {
    return refuse(
      'FORBIDDEN',
      `Your role is \`${role}\`. This needs \`${access.least}\`: ask an admin of the service.`,
    );
  }
  const isProofNeeded =
    access.needsProof === true && (account.hasSecondFactor || account.isSso || rules.isSecondFactorRequired);
  return isProofNeeded ? needsProof(signedIn) : undefined;
}

/**
 * Refuses an operator without the second factor that they need everything but adding one: a person who knows the password alone must not use
 * their apps and keys either (CP-06). `path` is of a route or a page.
 */
export function factorRefusal(
  { account }: Pick<SignedIn, 'account'>,
  path: string,
  rules: OperatorRules,
): Refusal<'FORBIDDEN'> | undefined {
  if (account.role !== 'operator' || !isFactorMissing(account, rules)) return undefined;
  return isOpenWithoutFactor(path) ? undefined : needsFactor();
}

/** Returns true for the routes and pages where an operator adds the first factor, and signs out. */
export function isOpenWithoutFactor(path: string): boolean {
  return WITHOUT_FACTOR.test(path);
}

const WITHOUT_FACTOR =
  /^\/(?:sessions|accounts\/current\/(?:second-factor|authenticator|passkeys)|account\/(?:second-factor|authenticator|passkeys|prove|sessions|sso)|sign-(?:in|out)|password-reset|guides|ops)(?:\/|$)|^\/(?:account|[^/]+\.(?:ico|svg|png))?$/;

function needsFactor(): Refusal<'FORBIDDEN'> {
  return refuse(
    'FORBIDDEN',
    'Operators need a second factor here. Sign in at `/account/second-factor`, add a passkey or an authenticator app, and try again.',
  );
}

/** An operator needs a second factor and has none. The provider answers for the accounts that sign in through it. */
export function isFactorMissing(
  { hasSecondFactor, isSso }: Account,
  { isSecondFactorRequired }: OperatorRules,
): boolean {
  return isSecondFactorRequired && !hasSecondFactor && !isSso;
}

/** The account has a password, and passwords open nothing of operators here. The operator of the settings is the way in when the provider is down. */
export function isSsoMissing({ email, isSso }: Account, { onlySso }: OperatorRules): boolean {
  return onlySso !== undefined && !isSso && email !== onlySso.except;
}

/** The role among operators. Undefined for owners. */
export function operatorRoleOf({ role, operatorRole }: Account): OperatorRole | undefined {
  return role === 'operator' ? (operatorRole ?? 'viewer') : undefined;
}
