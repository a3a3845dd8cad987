import { html } from '#kernel/html.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { START_TEXTS } from '#web/start/texts.ts';
import type { PageMethods } from '#web/frame/page-handlers.ts';

/** `/`: where somebody goes who has only the name of the service. */
export function startPage(frame: Frame): PageMethods {
  const { title, wallet, account } = START_TEXTS;
  const body = html`<section aria-labelledby="wallet">
<h2 id="wallet">${wallet.heading}</h2>
<p>${wallet.what}</p>
<p><a class="button" href="/wallet">${wallet.link}</a></p>
</section>
<section aria-labelledby="account">
<h2 id="account">${account.heading}</h2>
<p>${account.what}</p>
<p><a href="/account">${account.link}</a></p>
<p><a href="/docs">${account.reference}</a></p>
</section>`;
  const page = pageOf({ title: title(frame.operatorName), body, frame });
  return { GET: () => ({ status: 200, page }) };
}
