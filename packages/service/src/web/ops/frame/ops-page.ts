import { type Html, html } from '#kernel/text/html.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { card } from '#web/components/section.ts';
import { breadcrumbs } from '#web/components/navigation.ts';
import { CONSOLE_SCRIPT } from '#web/assets/console-script.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { CONSOLE_STYLE_ELEMENT } from '#web/assets/page-policy.ts';
import { ownerHeader } from '#web/frame/owner-page.ts';
import { footerOf, headOf } from '#web/frame/page-shell.ts';
import { showPage } from '#web/frame/responses.ts';
import type { OpsRequest } from '#web/ops/frame/for-operator.ts';
import { OPS_PAGES } from '#web/ops/frame/navigation.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { OPS_TEXTS as TEXTS } from '#web/ops/frame/texts.ts';
import { mayOpen } from '#web/ops/frame/links.ts';

interface OpsPage {
  readonly title: string;
  readonly body: Html;
  /** Which entry of the navigation leads here, such as `wallets`. */
  readonly page: string;
  /**
   * The name of the entry of the navigation above this page. It is set on a page below an entry, such as one wallet,
   * and is then a link.
   */
  readonly above?: string;
  /** The page must show its message. The answer has its status. */
  readonly refusal?: Refusal | undefined;
}

/** What every page for operators needs. */
type OpsOf = Pick<OpsServices, 'frame'> & { readonly operator: Pick<OpsServices['operator'], 'cell'> };

/** A page for operators: header, navigation, and where one is. */
export function showOpsPage(
  { frame, operator: { cell } }: OpsOf,
  { request, role }: OpsRequest,
  { title, body, page, above, refusal }: OpsPage,
): PageResponse {
  const crumbs = [
    ...(page === '' ? [] : [{ href: opsPath(''), text: TEXTS.console }]),
    ...(above === undefined ? [] : [{ href: opsPath(page), text: above }]),
  ];
  const content = html`${headOf({ title, frame, isError: refusal !== undefined }, CONSOLE_STYLE_ELEMENT)}
<body class="console">
${ownerHeader(frame, request)}
<nav class="side" aria-label="${TEXTS.sections}">
<p class="soft">${TEXTS.yourRole} ${TEXTS.roles[role]}${cell === undefined ? undefined : html`<br>${TEXTS.cell} ${cell}`}</p>
${mayOpen(role, 'find') ? findBox(request.exchange.path === opsPath('find') ? (request.query.get('q') ?? '') : '') : undefined}
<ul>
${OPS_PAGES.map((one) => html`<li><a href="${opsPath(one.page)}"${one.page === page ? html` aria-current="page"` : undefined}>${one.text}</a></li>\n`)}</ul>
</nav>
<main>
${breadcrumbs(TEXTS.path, crumbs, page === '' ? TEXTS.console : title)}
<h1>${title}</h1>
${body}
</main>
${footerOf(frame)}
${CONSOLE_SCRIPT.element}
</body>
</html>
`;
  return { ...showPage(content, refusal), needs: { script: CONSOLE_SCRIPT, isConsole: true } };
}

/** The page in place of a thing that is not there. `above`: what the entry `page` of the navigation is called. */
export function showNoSuch(
  services: OpsOf,
  asked: OpsRequest,
  { message, ...at }: { readonly message: string; readonly page: string; readonly above: string },
): PageResponse {
  const body = card(html`<p role="alert">${message}</p>`);
  return showOpsPage(services, asked, { ...at, title: TEXTS.noSuch, body, refusal: refuse('NOT_FOUND', message) });
}

/** The search, which is on every page. */
function findBox(value: string): Html {
  return html`<form method="get" action="${opsPath('find')}" role="search">
<label for="find">${TEXTS.find}</label>
<input type="search" id="find" name="q" value="${value}" maxlength="512" autocomplete="off">
</form>`;
}
