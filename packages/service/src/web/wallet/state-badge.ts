import type { Html } from '#kernel/text/html.ts';
import { badge } from '#web/components/badge.ts';
import { WALLET_TEXTS } from '#web/wallet/texts.ts';
import type { WalletState } from '#web/wallet-owner/owned-wallet.ts';

/** A wallet's state as a badge. Every state that stops the app from spending stands out. */
export function stateBadge(state: WalletState): Html {
  return badge(WALLET_TEXTS.state(state), state === 'active' ? 'good' : 'warn');
}
