import type { AppProfile } from '#developers/apps/profile.ts';
import type { Html } from '#kernel/text/html.ts';
import { linkLine } from '#web/components/navigation.ts';
import { LINK_TEXTS } from '#web/wallet-owner/texts.ts';

/**
 * A link back to the app, for somebody who came from it. Its address is the app's own, from the allow-list as it
 * is now, never from the request: this page sends nobody anywhere else (BI-02).
 */
export function backLine({ name, returnUri }: Pick<AppProfile, 'name' | 'returnUri'>): Html | undefined {
  return returnUri === undefined ? undefined : linkLine(returnUri, LINK_TEXTS.backTo(name));
}
