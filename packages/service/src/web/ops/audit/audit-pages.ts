import { auditEntrySchema } from '@purser/contract/trail.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AuditSearch, EntryFilter } from '#operator/look-up/audit-trail.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { type AppNames, code, opsPath, part, soft } from '#web/ops/frame/details.ts';
import { type Fields, listPage, type Typed, typedIn } from '#web/ops/frame/list-page.ts';
import { AUDIT_TEXTS as TEXTS, SIGN_IN_TEXTS } from '#web/ops/audit/texts.ts';
import { dateOf, epochMsOf } from '#kernel/time/clock.ts';
import { parseId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { parseAmount } from '#web/format/typed-amount.ts';
import { fold, linkLine, list } from '#web/components/parts.ts';
import { foundEntryToWire } from '#http/serializers/audit-to-wire.ts';
import { csvField } from '#http/serializers/csv.ts';
import { refusalPage } from '#web/frame/page.ts';

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
  return part('chain', 'The chain', html`<p class="soft">${TEXTS.chainWhat}</p>`, [
    ['Last line', String(line)],
    hash === undefined ? undefined : ['Its hash', code(hash)],
    sealedAtMs === undefined ? undefined : ['Sealed', moment(sealedAtMs)],
    ['Acts without a line', formats.count(waiting)],
    ['Check the chain', code('npm run purser -- audit check')],
  ]);
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

type Name = keyof typeof TEXTS.fields;

const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;
const ACTION = /^[a-z_-]+(\.[a-z_-]+)*$/;

function auditFields({ currency }: OpsRequest): Fields<Name> {
  const { from, to, amountFrom, amountTo, ...texts } = TEXTS.fields;
  const amount = (label: string) => ({ label: label.replace('%', currency) });
  return {
    who: { label: texts.who },
    action: { label: texts.action },
    subject: { label: texts.subject },
    app: { label: texts.app },
    amountFrom: amount(amountFrom),
    amountTo: amount(amountTo),
    from: { label: from, type: 'datetime-local' },
    to: { label: to, type: 'datetime-local' },
  };
}

/** The filter that was typed, or why it is none. */
function filterOf(typed: Typed<Name>): EntryFilter | Refusal<'BAD_REQUEST'> {
  const { who, action, subject } = typed;
  const app = typed.app === '' ? undefined : parseId('app', typed.app);
  if (typed.app !== '' && app === undefined) return refuse('BAD_REQUEST', TEXTS.notAnApp);
  if (action !== '' && !ACTION.test(action)) return refuse('BAD_REQUEST', TEXTS.notAnAction);
  const [from, to] = [momentOf(typed.from), momentOf(typed.to)];
  if (from === 'unfit' || to === 'unfit') return refuse('BAD_REQUEST', TEXTS.notAMoment);
  const [amountFrom, amountTo] = [amountOf(typed.amountFrom), amountOf(typed.amountTo)];
  if (amountFrom === 'unfit' || amountTo === 'unfit') return refuse('BAD_REQUEST', TEXTS.notAnAmount);
  const texts = { who: who || undefined, action: action || undefined, subject: subject || undefined };
  return { ...texts, appId: app, from, to, amountFrom, amountTo };
}

function momentOf(text: string): Date | 'unfit' | undefined {
  if (text === '') return undefined;
  const ms = MINUTE.test(text) ? epochMsOf(`${text}Z`) : Number.NaN;
  return Number.isNaN(ms) ? 'unfit' : dateOf(ms);
}

function amountOf(text: string): Micros | 'unfit' | undefined {
  return text === '' ? undefined : (parseAmount(text) ?? 'unfit');
}

type Facts = Readonly<Record<string, unknown>>;

/** A page stays small: an export and the API have the whole text. */
const SHOWN_MAX = 200;

/** The fields that an act was about, folded away. The trail has no secrets. */
function changesOf(before: Facts | undefined, after: Facts | undefined): Html | undefined {
  const [old, fresh] = [before ?? {}, after ?? {}];
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  if (names.length === 0) return undefined;
  const isChange = before !== undefined && after !== undefined;
  const items = names.map((name) => html`${name}: ${changeOf(old, fresh, name)}`);
  return fold(isChange ? 'Before and after' : 'Details', list(items));
}

function changeOf(before: Facts, after: Facts, name: string): string {
  if (!(name in before)) return textOf(after[name]);
  if (!(name in after)) return textOf(before[name]);
  return `${textOf(before[name])} → ${textOf(after[name])}`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)} …`;
}

const COLUMNS = ['entryId', ...auditEntrySchema.keyof().options, 'line', 'hash'] as const;

type Written = ReturnType<typeof foundEntryToWire>;
type Batches = ReturnType<AuditSearch['all']>;

const FORMATS = {
  csv: { type: 'text/csv; charset=utf-8', write: csvOf },
  jsonl: { type: 'application/jsonl; charset=utf-8', write: jsonLinesOf },
} as const;

/**
 * The file `/ops/audit/export`, which has every entry that fits the filter, the newest first. It is sent as it is read.
 */
export const exportPage: OpsPage = {
  GET: (asked) => {
    const filter = filterOf(typedIn(asked, auditFields(asked)));
    if (filter instanceof Refusal) {
      return refusalPage({ home: { path: opsPath('audit'), name: TEXTS.title }, frame: asked.frame }, filter);
    }
    const format = asked.asks('format') === 'jsonl' ? 'jsonl' : 'csv';
    const { type, write } = FORMATS[format];
    const headers = {
      'content-type': type,
      'content-disposition': `attachment; filename="audit.${format}"`,
    };
    return { status: 200, file: { headers, text: write(asked.operator.auditSearch.all(filter)) } };
  },
};

async function* csvOf(batches: Batches): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const entries of batches) yield entries.map((entry) => csvLine(foundEntryToWire(entry))).join('');
}

function csvLine(entry: Written): string {
  const cells = COLUMNS.map((name) => {
    const value = entry[name];
    if (value === null) return '';
    return csvField(typeof value === 'object' ? JSON.stringify(value) : value);
  });
  return `${cells.join(',')}\r\n`;
}

async function* jsonLinesOf(batches: Batches): AsyncGenerator<string> {
  for await (const entries of batches) {
    yield entries.map((entry) => `${JSON.stringify(foundEntryToWire(entry))}\n`).join('');
  }
}
