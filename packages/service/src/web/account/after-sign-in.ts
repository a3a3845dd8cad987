import { operatorRoleOf } from '#developers/operators/role.ts';
import type { PendingSignIn } from '#developers/sign-in/second-step.ts';
import type { SignInPlace } from '#developers/sessions/open-session.ts';
import type { Account, SignIn } from '#developers/sessions/session.ts';
import type { AccountRequest } from '#web/credentials/account-services.ts';
import { type PageRequest, type PageResponse, redirectTo } from '#web/frame/page.ts';

export const SECOND_STEP = '/sign-in/second-factor';

/**
 * Returns from where a browser signs in. One that has signed in before has tries of its own, which strangers cannot use
 * up.
 */
export function placeOf({ services, exchange, cookie }: AccountRequest): SignInPlace {
  return { from: services.addressOf(exchange.request), device: cookie('device'), isProgram: false };
}

/** Where somebody begins: operators with the service, everybody else with their apps. These lead on to an invitation that waits. */
export function homeOf(request: PageRequest, account: Account): string {
  const isOperator = operatorRoleOf(account) !== undefined && request.cookie('invitation') === undefined;
  return isOperator ? '/ops' : '/console';
}

/** Leads on after a right password: home, or to the second factor. A sign-in that waits for it is no session. */
export function goOn(
  request: AccountRequest,
  signIn: SignIn | PendingSignIn,
  to?: string,
  more: readonly string[] = [],
): PageResponse {
  const { cookies } = request.services;
  if ('pendingToken' in signIn) {
    return redirectTo(SECOND_STEP, [cookies.write('pending', signIn.pendingToken), ...more]);
  }
  return redirectTo(to ?? homeOf(request, signIn.account), [
    cookies.write('session', signIn.token),
    cookies.write('device', signIn.device),
    cookies.write('pending', undefined),
    ...more,
  ]);
}
