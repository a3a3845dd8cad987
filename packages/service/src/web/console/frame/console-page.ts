import { type Html, html } from '#kernel/text/html.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { breadcrumbs } from '#web/components/navigation.ts';
import { warningNotice } from '#web/components/notices.ts';
import type { AppRequest } from '#web/console/frame/app-page.ts';
import { CONSOLE_SCRIPT } from '#web/assets/console-script.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';
import { appPath } from '#web/console/frame/mode.ts';
import { APP_PAGES } from '#web/console/frame/navigation.ts';
import { CONSOLE_TEXTS as TEXTS } from '#web/console/frame/texts.ts';
import type { PageRequest, PageResponse } from '#web/frame/page.ts';
import { CONSOLE_STYLE_ELEMENT } from '#web/assets/page-policy.ts';
import { ownerHeader, showOwnerPage } from '#web/frame/owner-page.ts';
import { footerOf, headOf } from '#web/frame/page-shell.ts';
import { showPage } from '#web/frame/responses.ts';

interface ConsolePage {
  readonly title: string;
  readonly body: Html;
  /** Which entry of the navigation leads here, such as `keys`. */
  readonly page: string;
  /** The name of a page below an entry of the navigation, such as one key. The entry's name is then a link. */
  readonly above?: string;
  /** The page must show its message. The answer has its status. */
  readonly refusal?: Refusal | undefined;
}

/** A page of one app: header, navigation, where one is, and the switch between live and sandbox. */
export function showAppPage(
  { frame }: Pick<ConsoleServices, 'frame'>,
  { request, app, mode, to }: AppRequest,
  { title, body, page, above, refusal }: ConsolePage,
): PageResponse {
  const crumbs = [
    { href: '/console', text: TEXTS.apps },
    ...(page === '' ? [] : [{ href: to(''), text: app.name }]),
    ...(above === undefined ? [] : [{ href: to(page), text: above }]),
  ];
  const content = html`${headOf({ title, frame, isError: refusal !== undefined }, CONSOLE_STYLE_ELEMENT)}
<body class="console${mode === 'sandbox' ? ' sandbox' : ''}">
${ownerHeader(frame, request)}
${mode === 'sandbox' ? html`<p class="band">${TEXTS.sandboxBand}</p>` : undefined}
<nav class="side" aria-label="${TEXTS.sections}">
<div class="switch" role="group" aria-label="${TEXTS.mode}">${modeLink('live')}${modeLink('sandbox')}</div>
<ul>
${APP_PAGES.map((one) => html`<li><a href="${to(one.page)}"${current(one.page === page)}>${one.text}</a></li>\n`)}</ul>
</nav>
<main>
${breadcrumbs(TEXTS.path, crumbs, page === '' ? app.name : title)}
<h1>${title}</h1>
${app.status === 'suspended' ? warningNotice(TEXTS.suspended) : undefined}
${body}
</main>
${footerOf(frame)}
${CONSOLE_SCRIPT.element}
</body>
</html>
`;
  return answerWith(content, refusal);

  /** Another mode begins at the entry of the navigation: what a page below it shows may not exist there. */
  function modeLink(which: 'live' | 'sandbox'): Html {
    return html`<a href="${appPath(app.appId, page, which)}"${current(which === mode)}>${TEXTS[which]}</a>`;
  }
}

/** A page of the console that is about no app: the list of apps, or a guide. */
export function showConsolePage(
  services: Pick<ConsoleServices, 'frame'>,
  request: PageRequest,
  { title, body, refusal }: Pick<ConsolePage, 'title' | 'body' | 'refusal'>,
): PageResponse {
  const content = html`${body}
${CONSOLE_SCRIPT.element}`;
  return showOwnerPage(services, request, { title, body: content, refusal, script: CONSOLE_SCRIPT });
}

function answerWith(page: Html, refusal: Refusal | undefined): PageResponse {
  return { ...showPage(page, refusal), needs: { script: CONSOLE_SCRIPT, isConsole: true } };
}

function current(isCurrent: boolean): Html | undefined {
  return isCurrent ? html` aria-current="page"` : undefined;
}
