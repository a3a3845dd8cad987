import type { AppProfile } from '#accounts/app-profile.ts';
import type { Html } from '#kernel/html.ts';
import { linkLine } from '#web/components/navigation.ts';
import { BACK_TEXTS } from '#web/topup/texts.ts';

/**
 * A link back to the app, for somebody who came from a refused call. Its address is the app's own, from the allow-list as it
 * is now, never from the request: this page sends nobody anywhere else (BI-02).
 */
export function backLine({ name, returnUri }: AppProfile): Html | undefined {
  return returnUri === undefined ? undefined : linkLine(returnUri, BACK_TEXTS.backTo(name));
}
