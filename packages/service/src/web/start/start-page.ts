import { type Html, html } from '#kernel/text/html.ts';
import { buttonLink, linkLine, row, section } from '#web/components/parts.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { START_TEXTS } from '#web/start/texts.ts';

interface StartOptions {
  readonly frame: Frame;
  readonly isRegistrationOpen: boolean;
  /** Whether the page is that of a development service: developers come first, and it links to the mailbox. */
  readonly isDevelopment: boolean;
}

/**
 * Makes the page `/`, for somebody who knows only the address of the service. It is the same for everybody, so it is
 * made once.
 */
export function startPage({ frame, isRegistrationOpen, isDevelopment }: StartOptions): PageMethods {
  const { title, wallet, operator, mailbox } = START_TEXTS;
  const ofWallet = section({
    id: 'wallet',
    heading: wallet.heading,
    body: [
      html`<p>${wallet.what}</p>`,
      buttonLink('/wallet', wallet.link),
      linkLine('/guides/wallet-owner', wallet.guide),
    ],
  });
  const parts = [ofWallet, accountSection(isRegistrationOpen)];
  const body = html`${isDevelopment ? parts.toReversed() : parts}
${isDevelopment ? html`<p class="soft">${mailbox.what} <a href="/dev/mailbox">${mailbox.link}</a></p>` : undefined}
<p class="soft">${operator.what} <a href="/sign-in">${operator.link}</a></p>`;
  // Made at the start of the service: nothing on it depends on who looks.
  const page = pageOf({ title: title(frame.operatorName), body, frame });
  return { GET: () => ({ status: 200, page }) };
}

/** Makes the section for developers. `/console` leads to the sign-in and back. */
function accountSection(isRegistrationOpen: boolean): Html {
  const { account } = START_TEXTS;
  const ways = isRegistrationOpen
    ? row(buttonLink('/register', account.create), linkLine('/console', account.signIn))
    : buttonLink('/console', account.signIn);
  return section({
    id: 'account',
    heading: account.heading,
    body: [
      html`<p>${account.what}</p>`,
      ways,
      linkLine('/guides/app-developer', account.guides),
      linkLine('/docs', account.reference),
    ],
  });
}
