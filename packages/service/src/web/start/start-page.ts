import { html } from '#kernel/html.ts';
import { buttonLink } from '#web/components/button.ts';
import { linkLine } from '#web/components/navigation.ts';
import { section } from '#web/components/section.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { START_TEXTS } from '#web/start/texts.ts';

/** `/`: for somebody who knows only the address of the service. The same for everybody, so it is made once. */
export function startPage(frame: Frame): PageMethods {
  const { title, wallet, account } = START_TEXTS;
  const body = html`${section({
    id: 'wallet',
    heading: wallet.heading,
    body: [html`<p>${wallet.what}</p>`, buttonLink('/wallet', wallet.link)],
  })}
${section({
  id: 'account',
  heading: account.heading,
  body: [html`<p>${account.what}</p>`, linkLine('/account', account.link), linkLine('/docs', account.reference)],
})}`;
  // Made at the start of the service: nothing on it depends on who looks.
  const page = pageOf({ title: title(frame.operatorName), body, frame });
  return { GET: () => ({ status: 200, page }) };
}
