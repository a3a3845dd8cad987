import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { breadcrumbs } from '#web/components/parts.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { CONSOLE_SCRIPT } from '#web/assets/console-script.ts';
import { type PageRequest, type PageResponse, showPage } from '#web/frame/page.ts';
import { CONSOLE_STYLE_ELEMENT } from '#web/assets/page-policy.ts';
import { ownerHeader } from '#web/frame/owner-page.ts';
import { type Frame, footerOf, headOf } from '#web/frame/page-shell.ts';
import { opsPath } from '#web/ops/frame/details.ts';
import { OPS_TEXTS as TEXTS } from '#web/ops/frame/texts.ts';
import { mayOpen } from '#web/ops/frame/links.ts';

/** What a page says, within the frame that all pages for operators have. */
export interface OpsPageParts {
  readonly title: string;
  readonly body?: Html;
  /** Which entry of the navigation leads here, such as `wallets`. */
  readonly page?: string;
  /** In place of `page`: the page above this one, to which the way back leads. One wallet is below `wallets`. */
  readonly below?: string | undefined;
  /** Its message is shown before the body. The answer has its status. */
  readonly refusal?: Refusal | undefined;
  /** The body says why something was refused. */
  readonly isSaid?: boolean;
  /** What was just done, or what each word that the address may have for it means. It is said if nothing was refused. */
  readonly done?: string | ReadonlyMap<string, string> | undefined;
}

/** For whom a page is shown, and where. */
interface Shown {
  readonly frame: Frame;
  readonly operator: { readonly cell: string | undefined };
  readonly request: PageRequest;
  readonly role: OperatorRole;
}

/** A page for operators: header, navigation, and where one is. */
export function showOpsPage(
  { frame, operator: { cell }, request, role }: Shown,
  { title, body, below, page = below ?? '', refusal, isSaid = false, done }: OpsPageParts,
): PageResponse {
  const above = below === undefined ? undefined : [...OPS_PAGES, ...OTHER_PAGES].find((one) => one.page === below);
  const crumbs = [
    ...(page === '' ? [] : [{ href: opsPath(''), text: TEXTS.console }]),
    ...(above === undefined ? [] : [{ href: opsPath(above.page), text: above.text }]),
  ];
  const said = typeof done === 'object' ? done.get(request.query.get('done')?.trim() ?? '') : done;
  const content = html`${headOf({ title, frame, isError: refusal !== undefined }, CONSOLE_STYLE_ELEMENT)}
<body class="console">
${ownerHeader(frame, request)}
<nav class="side" aria-label="Pages for operators">
<p class="soft">Your role: ${TEXTS.roles[role]}${cell === undefined ? undefined : html`<br>This cell: ${cell}`}</p>
${mayOpen(role, 'find') ? findBox(request.exchange.path === opsPath('find') ? (request.query.get('q') ?? '') : '') : undefined}
<ul>
${OPS_PAGES.map((one) => html`<li><a href="${opsPath(one.page)}"${one.page === page ? html` aria-current="page"` : undefined}>${one.text}</a></li>\n`)}</ul>
</nav>
<main>
${breadcrumbs('Where you are', crumbs, page === '' ? TEXTS.console : title)}
<h1>${title}</h1>
${isSaid ? undefined : errorSummary(refusal?.message)}${refusal === undefined ? successNotice(said) : undefined}
${body}
</main>
${footerOf(frame)}
${CONSOLE_SCRIPT.element}
</body>
</html>
`;
  return { ...showPage(content, refusal), needs: { script: CONSOLE_SCRIPT, isConsole: true } };
}

/** The search, which is on every page. */
function findBox(value: string): Html {
  return html`<form method="get" action="${opsPath('find')}" role="search">
<label for="find">Find by ID or address</label>
<input type="search" id="find" name="q" value="${value}" maxlength="512" autocomplete="off">
</form>`;
}

/** The pages for operators, in the order of the navigation at the side. `page` is what follows `/ops/`. */
const OPS_PAGES = [
  { page: '', text: 'Overview' },
  { page: 'wallets', text: 'Wallets' },
  { page: 'payments', text: 'Payments' },
  { page: 'reconciliation', text: 'Reconciliation' },
  { page: 'bills', text: 'Provider bills' },
  { page: 'apps', text: 'Apps' },
  { page: 'accounts', text: 'Accounts' },
  { page: 'pending', text: 'Second person' },
  { page: 'catalogue', text: 'Catalogue' },
  { page: 'audit', text: 'Audit' },
  { page: 'health', text: 'Health' },
] as const;

/** Pages that have others below them and are not in the navigation. */
const OTHER_PAGES = [
  { page: 'find', text: 'Find anything' },
  { page: 'person', text: 'Person' },
] as const;
