import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AuditSearch } from '#operator/look-up/audit-trail.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { linkLine } from '#web/components/navigation.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, part, soft } from '#web/ops/frame/details.ts';
import { listPage, type Typed } from '#web/ops/frame/list-page.ts';
import type { AppNames } from '#web/ops/frame/links.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { auditFields, filterOf } from '#web/ops/audit/audit-filter.ts';
import { changesOf } from '#web/ops/audit/changes.ts';
import { AUDIT_TEXTS as TEXTS, SIGN_IN_TEXTS } from '#web/ops/audit/texts.ts';

/** An act has up to a kilobyte on the page, with its changes. */
const PAGE_LENGTH = 25;
const CURSOR = { name: 'before', first: 'Newest', more: 'Older', fits: /^\d{1,18}$/ };

type Entry = Awaited<ReturnType<AuditSearch['find']>>['entries'][number];

/** The page `/ops/audit`, which shows acts of everybody, the newest first, and the end of the chain (CP-05, CP-09). */
export const auditPage = listPage({
  page: 'audit',
  title: TEXTS.title,
  above: () => html`<p class="soft">${TEXTS.what}</p>\n${linkLine(opsPath('audit/sign-ins'), 'Sign-ins')}`,
  fields: auditFields,
  cursor: CURSOR,
  read: async ({ operator: { auditSearch } }, typed, before) => {
    const filter = filterOf(typed);
    if (filter instanceof Refusal) return { rows: [], next: undefined, refusal: filter };
    const { entries, next } = await auditSearch.find(filter, { before, most: PAGE_LENGTH });
    return { rows: entries, next };
  },
  caption: 'Acts, newest first',
  columns: () => ['When', 'Who', 'What', 'Amount', 'From', 'Line'],
  numbers: [3, 5],
  appOf: ({ subject }: Entry) => appIn(subject),
  cells: ({ moment, amount }, entry, names) => [
    moment(entry.atMs),
    whoOf(entry),
    whatOf(entry, names),
    entry.amount === undefined
      ? ''
      : html`${amount(entry.amount, currencyOf(entry))}<br>${soft(`${entry.amount} micros`)}`,
    entry.from ?? '',
    entry.line === undefined ? soft('sealed within a second') : entry.line,
  ],
  empty: () => 'No acts match.',
  within: exportLine,
  after: chainOf,
});

/** Returns the currency of a payment, which may have come in another one. It is undefined for other entries. */
function currencyOf({ after }: Entry): string | undefined {
  const { currency } = (after ?? {}) as { readonly currency?: unknown };
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : undefined;
}

function whoOf({ actor, actorName }: Entry): Html {
  const name = actorName === undefined ? undefined : html`${actorName}<br>`;
  return html`${name}<a href="${opsPath('audit', { who: actor })}"><code class="soft">${actor}</code></a>`;
}

/** The app that a subject begins with: an app, or one of its wallets or keys. */
function appIn(subject: string): string | undefined {
  return /^app_[0-9A-Za-z]+/.exec(subject)?.[0];
}

function whatOf({ action, subject, reason, before, after }: Entry, names: AppNames): Html {
  const name = names.get(appIn(subject) ?? '');
  return html`${action}${name === undefined ? undefined : html`<br>${name}`}<br><a href="${opsPath('audit', { subject })}"><code class="soft">${subject}</code></a>${
    reason === undefined ? undefined : html`<br>${soft(`“${reason}”`)}`
  }${changesOf(before, after)}`;
}

function exportLine(typed: Typed<string>): Html {
  const link = (format: 'csv' | 'jsonl') =>
    html`<a href="${opsPath('audit/export', { format, ...typed })}" download>${TEXTS[format]}</a>`;
  return html`<p class="row">Export all that match: ${link('csv')} ${link('jsonl')}</p>`;
}

async function chainOf({ operator: { auditSearch }, moment, formats }: OpsRequest): Promise<Html> {
  const { line, hash, sealedAtMs, waiting } = await auditSearch.head();
  const facts = definitionList([
    ['Last line', String(line)],
    hash === undefined ? undefined : ['Its hash', code(hash)],
    sealedAtMs === undefined ? undefined : ['Sealed', moment(sealedAtMs)],
    ['Acts without a line', formats.count(waiting)],
    ['Check the chain', code('npm run purser -- audit check')],
  ]);
  return part('chain', 'The chain', html`<p class="soft">${TEXTS.chainWhat}</p>`, facts);
}

/** The page `/ops/audit/sign-ins`, which shows who signed in or failed to, by minute. */
export const signInsPage = listPage({
  page: 'audit/sign-ins',
  title: 'Sign-ins',
  below: 'audit',
  above: () => html`<p class="soft">${SIGN_IN_TEXTS.what}</p>`,
  fields: () => ({ who: { label: 'Who (account or identity)' } }),
  cursor: CURSOR,
  read: async ({ operator: { audit } }, { who }, before) => {
    const { signIns, next } = await audit.signIns({ who: who.slice(0, 64) || undefined, before, most: PAGE_LENGTH });
    return { rows: signIns, next };
  },
  caption: 'Sign-ins, newest first',
  columns: () => ['Minute', 'Who', 'Result', 'From', 'Times'],
  numbers: [4],
  cells: ({ moment, formats }, { minuteMs, who, result, from, count }) => [
    moment(minuteMs),
    who === undefined ? 'unknown' : html`<a href="${opsPath('audit/sign-ins', { who })}">${code(who)}</a>`,
    SIGN_IN_TEXTS.results[result],
    from ?? '',
    formats.count(count),
  ],
  empty: () => 'No sign-ins match.',
});
