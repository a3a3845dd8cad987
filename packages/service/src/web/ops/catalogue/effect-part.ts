import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { type Difference, differencesOf } from '#catalogue/differences.ts';
import { effectOf, laterMoments, SAMPLE_CALL, type SampleCost, type UpstreamEffect } from '#catalogue/price-effect.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { badge } from '#web/components/badge.ts';
import { list } from '#web/components/list.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { appLink } from '#web/ops/frame/links.ts';
import { amountIn } from '#web/ops/catalogue/parts.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { EDIT_TEXTS as TEXTS, MODEL_TEXTS } from '#web/ops/catalogue/texts.ts';

const FIELDS_MAX = 100;
/** At most this many later prices are compared. */
const LATER_MAX = 3;

interface Change {
  readonly before: CatalogueModel | undefined;
  readonly after: CatalogueModel | undefined;
}

/** What a change of an entry does, before it is made: the fields, and a typical call now and with every later price. */
export function effectPart(services: OpsCatalogueServices, asked: OpsRequest, change: Change): Html {
  return section({
    id: 'effect',
    heading: TEXTS.preview,
    body: [fieldsTable(differencesOf(change.before, change.after)), ...effectTables(services, asked, change)],
  });
}

/** A typical call before and after a change, now and with every later price. */
export function effectTables(services: OpsCatalogueServices, asked: OpsRequest, change: Change): readonly Html[] {
  const nowMs = services.clock.nowMs();
  const later = (change.after === undefined ? [] : laterMoments(change.after, nowMs)).slice(0, LATER_MAX);
  const { formats } = asked.request;
  return [
    ...[nowMs, ...later].map((atMs) =>
      effectTable(
        effectOf(change.before, change.after, atMs),
        atMs === nowMs ? TEXTS.sample : `${TEXTS.sampleFrom} ${formats.moment(atMs)}`,
        amountIn(asked, services),
      ),
    ),
    html`<p class="soft">${sampleWords(asked)}</p>`,
  ];
}

/** What the sample call is. */
export function sampleWords({ request: { formats } }: OpsRequest): string {
  const { promptBytes, promptTokens, outputTokens } = SAMPLE_CALL;
  return MODEL_TEXTS.costsWhat(formats.count(promptBytes), formats.count(promptTokens), formats.count(outputTokens));
}

/** The fields that differ between two entries. */
export function fieldsTable(differences: readonly Difference[]): Html {
  return table({
    caption: TEXTS.fields,
    columns: TEXTS.fieldColumns.map((name) => ({ name })),
    hasLongCells: true,
    rows: differences
      .slice(0, FIELDS_MAX)
      .map(({ field, before, after }) => [
        html`<code>${field}</code>`,
        before ?? TEXTS.absent,
        html`<strong>${after ?? TEXTS.absent}</strong>`,
      ]),
    empty: TEXTS.nothing,
  });
}

function effectTable(effects: readonly UpstreamEffect[], caption: string, amount: (micros: Micros) => string): Html {
  const cell = (effect: UpstreamEffect, of: keyof SampleCost) => {
    const { before, after } = effect;
    const now = after === undefined ? TEXTS.gone : amount(after[of]);
    const was = before === undefined ? TEXTS.gone : amount(before[of]);
    return html`<strong>${now}</strong>${now === was ? undefined : html`<br><span class="soft">${TEXTS.was} ${was}</span>`}`;
  };
  return table({
    caption,
    columns: TEXTS.sampleColumns.map((name, at) => ({ name, isNumeric: at > 0 })),
    rows: effects.map((effect) => [
      `${effect.provider}/${effect.providerModel}`,
      cell(effect, 'hold'),
      cell(effect, 'charge'),
      cell(effect, 'margin'),
    ]),
    empty: TEXTS.nothing,
  });
}

/** Which apps have used any of these models lately: a change of them changes what their users pay. */
export async function usedBy(services: OpsCatalogueServices, models: readonly string[]) {
  const toMs = services.clock.nowMs();
  return services.stats.byApp({ of: 'every app', mode: 'live', models, fromMs: toMs - USED_MS, toMs });
}

const USED_MS = 30 * 24 * 60 * 60 * 1_000;
/** `byApp` finds at most this many apps. */
const USED_MAX = 100;
const NAMED_MAX = 10;

/** The apps that a change of these models concerns, by name. */
export async function concernedApps(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  models: readonly string[],
): Promise<Html> {
  const used = models.length === 0 ? [] : await usedBy(services, models);
  const named = used.slice(0, NAMED_MAX);
  const names = await services.operator.apps.names(named.map(({ appId }) => appId));
  const calls = asked.request.formats.count(used.reduce((all, one) => all + one.calls, 0));
  const rest = used.length - named.length;
  const links = named.map(({ appId }) => appLink(asked.role, appId, names));
  return html`<p>${TEXTS.apps({ apps: used.length, isMost: used.length === USED_MAX, calls, models: models.length })}</p>
${links.length === 0 ? undefined : list(rest === 0 ? links : [...links, TEXTS.moreApps(rest, used.length === USED_MAX)])}`;
}

export function unsavedBadge(): Html {
  return html`<p>${badge(TEXTS.notSaved, 'warn')}</p>`;
}
