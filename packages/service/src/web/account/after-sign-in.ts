import type { PendingSignIn } from '#accounts/second-step.ts';
import type { SignInPlace } from '#accounts/session-opening.ts';
import type { SignIn } from '#accounts/session.ts';
import type { AccountServices } from '#web/account/account-services.ts';
import type { PageRequest, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';

export const SECOND_STEP = '/sign-in/second-factor';

/** From where a browser signs in. One that has signed in before has tries of its own: strangers cannot use them up. */
export function placeOf({ addressOf }: Pick<AccountServices, 'addressOf'>, request: PageRequest): SignInPlace {
  return { from: addressOf(request.exchange.request), device: request.cookie('device'), isProgram: false };
}

/** After a right password: on to the apps, or to the second factor. A sign-in that waits for it is no session. */
export function goOn(
  { cookies }: Pick<AccountServices, 'cookies'>,
  signIn: SignIn | PendingSignIn,
  to = '/console',
  more: readonly string[] = [],
): PageResponse {
  if ('pendingToken' in signIn) {
    return redirectTo(SECOND_STEP, [cookies.write('pending', signIn.pendingToken), ...more]);
  }
  return redirectTo(to, [
    cookies.write('session', signIn.token),
    cookies.write('device', signIn.device),
    cookies.write('pending', undefined),
    ...more,
  ]);
}
