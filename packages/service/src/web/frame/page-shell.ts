import { type Html, html } from '#kernel/text/html.ts';
import { initial } from '#web/components/parts.ts';
import { ICON_PATH } from '#web/assets/icon.ts';
import { STYLE_ELEMENT } from '#web/assets/page-policy.ts';
import { FRAME_TEXTS } from '#web/frame/texts.ts';

/** The header and footer of every page. */
export interface Frame {
  /** The name that pages use for the operator of this service. */
  readonly operatorName: string;
  /** Where people can ask for help. Undefined if the settings name no address; pages then show none. */
  readonly supportEmail: string | undefined;
  /** Whether there is a page about how the service runs, to which the footer leads. */
  readonly statusPage?: 'full' | 'brief' | 'off';
  /** Payments go to the test processor. Every page that deals with money says so (ON-03). */
  readonly isTestMoney?: boolean;
}

interface PageText {
  readonly title: string;
  readonly body: Html;
  readonly frame: Frame;
  /** An address that the browser opens by itself, at once. */
  readonly goesTo?: string | undefined;
  /** The page reports a problem. The title says so first, because a screen reader begins with it. */
  readonly isError?: boolean;
  /** What it has besides the style of all pages. */
  readonly style?: Html;
}

/** A whole page: the title is its heading too. */
export function pageOf({ title, body, frame, goesTo, isError = false, style }: PageText): Html {
  return html`${headOf({ title, frame, goesTo, isError }, style)}
<body>
<header>
${frame.isTestMoney === true ? html`<p class="test-money">${FRAME_TEXTS.testMoney}</p>` : undefined}
${brandOf(frame)}
</header>
<main>
<h1>${title}</h1>
${body}
</main>
${footerOf(frame)}
</body>
</html>
`;
}

/** What comes before the body. `style`: what a page has besides the style of all. */
export function headOf(
  { title, frame, goesTo, isError = false }: Omit<PageText, 'body' | 'style'>,
  style?: Html,
): Html {
  return html`<!doctype html>
<html lang="${FRAME_TEXTS.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${goesTo === undefined ? undefined : html`<meta http-equiv="refresh" content="0;url=${goesTo}">`}
<link rel="icon" href="${ICON_PATH}" type="image/svg+xml">
<title>${isError ? FRAME_TEXTS.errorPrefix : ''}${title} - ${frame.operatorName}</title>
${STYLE_ELEMENT}${style}
</head>`;
}

/** Shows in the header of every page whose service this is. */
export function brandOf({ operatorName }: Frame): Html {
  return html`<div>${initial(operatorName, 'mark')}${operatorName}</div>`;
}

export function footerOf({ operatorName, supportEmail, statusPage = 'off' }: Frame): Html {
  const mail =
    supportEmail && html`<p>${FRAME_TEXTS.questions} <a href="mailto:${supportEmail}">${supportEmail}</a></p>`;
  const status = statusPage === 'off' ? undefined : html`<p><a href="/status">${FRAME_TEXTS.status}</a></p>`;
  return html`<footer><div><p>${FRAME_TEXTS.runBy(operatorName)}</p>${status}${mail}</div></footer>`;
}
