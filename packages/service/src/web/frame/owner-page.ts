import { type Html, html } from '#kernel/text/html.ts';
import type { Refusal } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/parts.ts';
import { type PageRequest, type PageResponse, showPage } from '#web/frame/page.ts';
import { CONSOLE_STYLE_ELEMENT, type PageNeeds } from '#web/assets/page-policy.ts';
import { brandOf, type Frame, footerOf, headOf } from '#web/frame/page-shell.ts';
import { FRAME_TEXTS as TEXTS } from '#web/frame/texts.ts';

interface OwnerPage {
  readonly title: string;
  readonly body: Html;
  /** The page must show its message. The answer has its status. */
  readonly refusal?: Refusal | undefined;
  /** Lines of text and forms, which nobody reads over the whole width of a desktop. */
  readonly isNarrow?: boolean;
  readonly script?: PageNeeds['script'];
}

/** A page of an app owner that is about no app: their account, the list of apps, a guide. */
export function showOwnerPage(
  request: PageRequest & { readonly services: { readonly frame: Frame } },
  { title, body, refusal, isNarrow = false, script }: OwnerPage,
): PageResponse {
  const { frame } = request.services;
  const content = html`${ownerHeader(frame, request)}
<main>
<h1>${title}</h1>
${body}
</main>`;
  const look = `console whole${isNarrow ? ' narrow' : ''}`;
  const shown = consoleDocument(frame, { title, look, content, refusal });
  return script === undefined ? shown : { ...shown, needs: { ...shown.needs, script } };
}

interface ConsoleDocument {
  readonly title: string;
  /** The classes of the body. */
  readonly look: string;
  readonly content: Html;
  readonly refusal: Refusal | undefined;
  /** Stands at the end of the page. */
  readonly script?: NonNullable<PageNeeds['script']>;
}

/** A whole page in the style of the console. */
export function consoleDocument(
  frame: Frame,
  { title, look, content, refusal, script }: ConsoleDocument,
): PageResponse {
  const page = html`${headOf({ title, frame, isError: refusal !== undefined }, CONSOLE_STYLE_ELEMENT)}
<body class="${look}">
${content}
${footerOf(frame)}
${script && html`${script.element}\n`}</body>
</html>
`;
  return { ...showPage(page, refusal), needs: { isConsole: true, ...(script === undefined ? {} : { script }) } };
}

/**
 * Shows whose service this is, its parts with the guides for this reader, and the way out. Guides are open to everybody, so nobody
 * may be signed in.
 */
export function ownerHeader(frame: Frame, { signedIn, exchange, form }: PageRequest): Html {
  const to = (href: string, text: string, home = href): Html => {
    const isHere = exchange.path === home || exchange.path.startsWith(`${home}/`);
    return html`<a href="${href}"${isHere ? html` aria-current="true"` : undefined}>${text}</a>`;
  };
  const guides = signedIn?.account.role === 'operator' ? '/guides/operator' : '/guides/app-developer';
  return html`<header>
${brandOf(frame)}
<nav class="top" aria-label="${TEXTS.service}">${to('/console', TEXTS.apps)}${to(guides, TEXTS.guides, '/guides')}${to('/docs', TEXTS.reference)}
${
  signedIn === undefined
    ? to('/sign-in', TEXTS.signIn)
    : html`${signedIn.account.role === 'operator' ? to('/ops', TEXTS.operations) : undefined}${to('/account', TEXTS.account)}
${form('/sign-out', button(TEXTS.signOut, { kind: 'quiet' }))}`
}</nav>
</header>`;
}
