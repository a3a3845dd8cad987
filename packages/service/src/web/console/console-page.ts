import { type Html, html } from '#kernel/html.ts';
import type { Refusal } from '#kernel/refusal.ts';
import { button } from '#web/components/button.ts';
import { breadcrumbs } from '#web/components/navigation.ts';
import { warningNotice } from '#web/components/notices.ts';
import type { AppRequest } from '#web/console/app-page.ts';
import { CONSOLE_SCRIPT } from '#web/console/console-script.ts';
import type { ConsoleServices } from '#web/console/console-services.ts';
import { appPath } from '#web/console/mode.ts';
import { APP_PAGES } from '#web/console/navigation.ts';
import { CONSOLE_TEXTS as TEXTS } from '#web/console/texts.ts';
import type { PageRequest, PageResponse } from '#web/frame/page.ts';
import { CONSOLE_STYLE_ELEMENT } from '#web/frame/page-policy.ts';
import { brandOf, footerOf, headOf } from '#web/frame/page-shell.ts';
import { refusedBy } from '#web/frame/responses.ts';

interface ConsolePage {
  readonly title: string;
  readonly body: Html;
  /** Which entry of the navigation leads here, such as `keys`. */
  readonly page: string;
  /** Of a page below an entry of the navigation, such as one key: the entry's name is then a link. */
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
${headerOf(frame, request)}
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
  { frame }: Pick<ConsoleServices, 'frame'>,
  request: PageRequest,
  { title, body, refusal }: Pick<ConsolePage, 'title' | 'body' | 'refusal'>,
): PageResponse {
  const content = html`${headOf({ title, frame, isError: refusal !== undefined }, CONSOLE_STYLE_ELEMENT)}
<body class="console whole">
${headerOf(frame, request)}
<main>
<h1>${title}</h1>
${body}
</main>
${footerOf(frame)}
${CONSOLE_SCRIPT.element}
</body>
</html>
`;
  return answerWith(content, refusal);
}

function answerWith(page: Html, refusal: Refusal | undefined): PageResponse {
  const answer = refusal === undefined ? { status: 200, page } : refusedBy(refusal, page);
  return { ...answer, needs: { script: CONSOLE_SCRIPT, isConsole: true } };
}

/** The header of every page of both consoles. */
export function headerOf(frame: ConsoleServices['frame'], request: PageRequest): Html {
  return html`<header>
${brandOf(frame)}
<nav class="top" aria-label="${TEXTS.service}"><a href="/console">${TEXTS.apps}</a><a href="/guides">${TEXTS.guides}</a><a href="/docs">${TEXTS.reference}</a>
${
  request.signedIn === undefined
    ? undefined
    : html`${request.signedIn.account.role === 'operator' ? html`<a href="/ops">${TEXTS.operations}</a>` : undefined}<a href="/account">${TEXTS.account}</a>
${request.form('/sign-out', button(TEXTS.signOut, { kind: 'quiet' }))}`
}</nav>
</header>`;
}

function current(isCurrent: boolean): Html | undefined {
  return isCurrent ? html` aria-current="page"` : undefined;
}
