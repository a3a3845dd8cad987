import { escapeHtml, withoutTurns } from '#kernel/text/html.ts';

/** A part of a letter: a paragraph, something to copy, or a link to a page of ours. */
type Part = { readonly text: string } | { readonly copy: string } | { readonly link: string; readonly name: string };

/** A mail to a person, before it becomes plain text and HTML. */
export interface Letter {
  /** The name under which the reader knows the sender. */
  readonly sender: string;
  readonly subject: string;
  readonly parts: readonly Part[];
}

interface WrittenLetter {
  readonly subject: string;
  readonly body: string;
  readonly html: string;
}

/** Lines up to 76 characters survive every mail program unwrapped, and quoted once. */
const COLUMNS = 76;
const SUBJECT_LENGTH_MAX = 200;

/** The style of all mail, in the colours of the pages: one column, light and dark. Without it, the words still stand in order. */
export const LETTER_STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:24px 16px;background:#f3f5f2;color:#17211d;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
div{max-width:480px;margin:0 auto;padding:24px;background:#fff;border:1px solid #dce1dc;border-radius:10px}
p{margin:0 0 16px}
p:last-child{margin:0}
.sender{color:#55625b;font-weight:600}
.copy{font:600 24px/1.3 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.long{font-size:15px;font-weight:400}
a{display:inline-block;padding:10px 18px;border-radius:6px;background:#0d5c4b;color:#fff;font-weight:600;text-decoration:none}
@media(prefers-color-scheme:dark){body{background:#0e1412;color:#e7eeea}div{background:#18211d;border-color:#2c3833}.sender{color:#a3b1aa}a{background:#86d9bd;color:#06251c}}`;

/** A code is shown in large letters, a token of 43 characters in small ones. */
const SHORT = 12;

/** Writes a letter as plain text and as HTML, with the same words. The HTML loads nothing and leads only to the links that were given. */
export function writeLetter({ sender, subject, parts }: Letter): WrittenLetter {
  const title = lineOf(subject).slice(0, SUBJECT_LENGTH_MAX);
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${LETTER_STYLE}</style>
</head>
<body>
<div>
<p class="sender">${escapeHtml(lineOf(sender))}</p>
${parts.map(htmlOf).join('\n')}
</div>
</body>
</html>
`;
  return { subject: title, body: `${parts.map(textOf).join('\n\n')}\n`, html };
}

/**
 * A name that a stranger chose, made safe for a mail. Mail programs turn `evil.test` into a link by themselves, and Unicode has
 * characters that hide or that turn a line around: none of them is left. Empty if nothing is left.
 */
export function plainName(name: string): string {
  return lineOf(name.replace(/[^\p{L}\p{M}\p{N} '&+!?()-]/gu, ' '));
}

function lineOf(text: string): string {
  return withoutTurns(text.replace(/[\s\p{Cc}]+/gu, ' ')).trim();
}

function textOf(part: Part): string {
  if ('copy' in part) return `    ${part.copy}`;
  return 'link' in part ? part.link : wrapped(part.text);
}

function htmlOf(part: Part): string {
  if ('copy' in part) {
    return `<p class="copy${part.copy.length > SHORT ? ' long' : ''}">${escapeHtml(part.copy)}</p>`;
  }
  if ('link' in part) return `<p><a href="${escapeHtml(part.link)}">${escapeHtml(part.name)}</a></p>`;
  return `<p>${escapeHtml(lineOf(part.text))}</p>`;
}

/** Breaks a paragraph into lines. A word longer than a line stays whole: it may be an address. */
function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of lineOf(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}
