import { type Html, html } from '#kernel/text/html.ts';
import { CODING_AGENTS } from '#kernel/calls/call-session.ts';
import type { UsedSession } from '#kernel/calls/session-page.ts';
import { moment, table } from '#web/figures/figures.ts';
import type { Formats } from '#web/format/formats.ts';

/** How many sessions keep a page under 60 KB. */
export const SESSIONS_SHOWN_MAX = 25;

const TEXTS = {
  columns: ['Session', 'Last call', 'Calls', 'Cost'],
  begun: 'begun',
  unknown: 'Session',
} as const;

interface SessionList {
  readonly caption: string;
  readonly currency: string;
  readonly empty: string;
  /** The address of the calls of a session, if there is a page of them. */
  readonly hrefOf?: (name: string) => string;
}

/** Sessions of coding agents with what they have cost (CP-19). Costs have their decimals under each other. */
export function sessionList(
  sessions: readonly UsedSession[],
  { caption, currency, empty, hrefOf }: SessionList,
  formats: Formats,
): Html {
  const count = new Intl.NumberFormat('en');
  return table({
    caption,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 1 })),
    rows: sessions.map(({ name, client, begunAtMs, lastAtMs, calls, charged }) => {
      const title = client === undefined ? TEXTS.unknown : CODING_AGENTS[client];
      return [
        html`${hrefOf === undefined ? html`<strong>${title}</strong>` : html`<a href="${hrefOf(name)}">${title}</a>`}<br>
<span class="soft">${shortSession(name)}</span>`,
        html`${moment(lastAtMs, formats)}<br>
<span class="soft">${TEXTS.begun} ${moment(begunAtMs, formats)}</span>`,
        count.format(calls),
        formats.amount(charged, currency),
      ];
    }),
    empty,
  });
}

const WHOLE_MAX = 16;
const PART = 6;

/** The name of a session where there is little room, with the whole name behind it. Clients that count up differ at the end. */
export function shortSession(name: string): Html {
  if (name.length <= WHOLE_MAX) return html`<code>${name}</code>`;
  return html`<code title="${name}">${name.slice(0, PART)}…${name.slice(-PART)}</code>`;
}
