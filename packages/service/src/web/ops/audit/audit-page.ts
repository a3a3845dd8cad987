import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AuditHead, AuditSearch } from '#operator/look-up/audit-search.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { filterForm } from '#web/fields/filter.ts';
import { moment } from '#web/figures/moment.ts';
import { linkLine, pager } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { Formats } from '#web/format/formats.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { AppNames } from '#web/ops/frame/links.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { auditFilterForm, filterOf, type Typed, typedFilter } from '#web/ops/audit/audit-filter.ts';
import { changesOf } from '#web/ops/audit/changes.ts';
import { AUDIT_TEXTS as TEXTS, SIGN_IN_TEXTS } from '#web/ops/audit/texts.ts';

/** An act has up to a kilobyte on the page, with its changes. */
const PAGE_LENGTH = 25;
const CURSOR = /^\d{1,18}$/;

type Page = Awaited<ReturnType<AuditSearch['find']>>;
type Entry = Page['entries'][number];

/**
 * Makes the page `/ops/audit`, which shows acts of everybody, the newest first, and the end of the chain (CP-05,
 * CP-09).
 */
export function auditPage(services: OpsServices): PageMethods {
  const { auditSearch } = services.operator;
  return forOperator(services, {
    GET: async (asked) => {
      const { query, formats } = asked.request;
      const typed = typedFilter(query);
      const filter = filterOf(typed);
      const before = cursorOf(query);
      const refusal = filter instanceof Refusal ? filter : undefined;
      const found: Page =
        filter instanceof Refusal
          ? { entries: [], next: undefined }
          : await auditSearch.find(filter, { before, most: PAGE_LENGTH });
      const names = await services.operator.apps.names(found.entries.flatMap(({ subject }) => appIn(subject) ?? []));
      const pages = pager({
        newer: before === undefined ? undefined : { href: opsPath('audit', typed), text: TEXTS.newest },
        older:
          found.next === undefined
            ? undefined
            : { href: opsPath('audit', { ...typed, before: found.next }), text: TEXTS.older },
      });
      const body = html`${errorSummary(refusal?.message)}
<p class="soft">${TEXTS.what}</p>
${linkLine(opsPath('audit/sign-ins'), TEXTS.toSignIns)}
${auditFilterForm(typed, services.currency)}
${card(listOf(services, formats, found, names), pages, exportLine(typed))}
${chainOf(await auditSearch.head(), formats)}`;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'audit', refusal });
    },
  });
}

/** What cannot be a place in the list was typed by hand: the page begins at the newest. */
function cursorOf(query: URLSearchParams): string | undefined {
  const before = query.get('before') ?? '';
  return CURSOR.test(before) ? before : undefined;
}

function listOf({ currency }: OpsServices, formats: Formats, { entries }: Page, names: AppNames): Html {
  return table({
    caption: TEXTS.caption,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 3 || at === 5 })),
    rows: entries.map((entry) => [
      moment(entry.atMs, formats),
      whoOf(entry),
      whatOf(entry, names),
      entry.amount === undefined
        ? ''
        : html`${formats.amount(entry.amount, currencyOf(entry) ?? currency)}<br><span class="soft">${String(entry.amount)} micros</span>`,
      entry.from ?? '',
      entry.line === undefined ? html`<span class="soft">${TEXTS.waits}</span>` : entry.line,
    ]),
    empty: TEXTS.none,
  });
}

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
    reason === undefined ? undefined : html`<br><span class="soft">${TEXTS.reason(reason)}</span>`
  }${changesOf(before, after)}`;
}

function exportLine(typed: Typed): Html {
  const link = (format: 'csv' | 'jsonl') =>
    html`<a href="${opsPath('audit/export', { format, ...typed })}" download>${TEXTS[format]}</a>`;
  return html`<p class="row">${TEXTS.exportAll} ${link('csv')} ${link('jsonl')}</p>`;
}

function chainOf({ line, hash, sealedAtMs, waiting }: AuditHead, formats: Formats): Html {
  const facts = definitionList([
    [TEXTS.head, String(line)],
    hash === undefined ? undefined : [TEXTS.hash, html`<code>${hash}</code>`],
    sealedAtMs === undefined ? undefined : [TEXTS.sealed, moment(sealedAtMs, formats)],
    [TEXTS.waiting, formats.count(waiting)],
    [TEXTS.check, html`<code>${TEXTS.checkCommand}</code>`],
  ]);
  return section({ id: 'chain', heading: TEXTS.chain, body: [html`<p class="soft">${TEXTS.chainWhat}</p>`, facts] });
}

/** Makes the page `/ops/audit/sign-ins`, which shows who signed in or failed to, by minute. */
export function signInsPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { query, formats } = asked.request;
      const who = query.get('who')?.trim().slice(0, 64) ?? '';
      const before = cursorOf(query);
      const page = { who: who || undefined, before, most: PAGE_LENGTH };
      const { signIns, next } = await services.operator.audit.signIns(page);
      const path = (more: Readonly<Record<string, string>>) => opsPath('audit/sign-ins', { who, ...more });
      const list = table({
        caption: SIGN_IN_TEXTS.caption,
        columns: SIGN_IN_TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 4 })),
        rows: signIns.map(({ minuteMs, who: whose, result, from, count }) => [
          moment(minuteMs, formats),
          whose === undefined
            ? SIGN_IN_TEXTS.unknown
            : html`<a href="${opsPath('audit/sign-ins', { who: whose })}"><code>${whose}</code></a>`,
          SIGN_IN_TEXTS.results[result],
          from ?? '',
          formats.count(count),
        ]),
        empty: SIGN_IN_TEXTS.none,
      });
      const pages = pager({
        newer: before === undefined ? undefined : { href: path({}), text: TEXTS.newest },
        older: next === undefined ? undefined : { href: path({ before: next }), text: TEXTS.older },
      });
      const body = html`<p class="soft">${SIGN_IN_TEXTS.what}</p>
${filterForm(opsPath('audit/sign-ins'), 'live', [{ name: 'who', label: SIGN_IN_TEXTS.who, value: who }])}
${card(list, pages)}`;
      return showOpsPage(services, asked, { title: SIGN_IN_TEXTS.title, body, page: 'audit', above: TEXTS.title });
    },
  });
}
