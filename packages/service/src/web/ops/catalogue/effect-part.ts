import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { type Difference, differencesOf } from '#catalogue/differences.ts';
import { effectOf, laterMoments, SAMPLE_CALL, type SampleCost, type UpstreamEffect } from '#catalogue/price-effect.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { list } from '#web/components/parts.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part, soft } from '#web/ops/frame/details.ts';
import { EDIT_TEXTS as TEXTS, MODEL_TEXTS } from '#web/ops/catalogue/texts.ts';

const FIELDS_MAX = 100;
/** At most this many later prices are compared. */
const LATER_MAX = 3;

interface Change {
  readonly before: CatalogueModel | undefined;
  readonly after: CatalogueModel | undefined;
}

/** What a change of an entry does, before it is made: the fields, and a typical call now and with every later price. */
export function effectPart(asked: OpsRequest, change: Change): Html {
  const fields = fieldsTable(differencesOf(change.before, change.after));
  return part('effect', TEXTS.preview, fields, ...effectTables(asked, change));
}

/** A typical call before and after a change, now and with every later price. */
export function effectTables(asked: OpsRequest, { before, after }: Change): readonly Html[] {
  const nowMs = asked.clock.nowMs();
  const later = (after === undefined ? [] : laterMoments(after, nowMs)).slice(0, LATER_MAX);
  const tables = [nowMs, ...later].map((atMs) => {
    const caption = atMs === nowMs ? 'A typical call' : `A typical call, from ${asked.formats.moment(atMs)}`;
    return effectTable(asked, effectOf(before, after, atMs), caption);
  });
  return [...tables, html`<p class="soft">${sampleWords(asked)}</p>`];
}

/** What the sample call is. */
export function sampleWords({ formats }: OpsRequest): string {
  const { promptBytes, promptTokens, outputTokens } = SAMPLE_CALL;
  return MODEL_TEXTS.costsWhat(formats.count(promptBytes), formats.count(promptTokens), formats.count(outputTokens));
}

/** The fields that differ between two entries. */
export function fieldsTable(differences: readonly Difference[]): Html {
  return listing({
    caption: 'Fields that change',
    columns: ['Field', 'Before', 'After'],
    hasLongCells: true,
    rows: differences
      .slice(0, FIELDS_MAX)
      .map(({ field, before, after }) => [
        code(field),
        before ?? TEXTS.absent,
        html`<strong>${after ?? TEXTS.absent}</strong>`,
      ]),
    empty: TEXTS.nothing,
  });
}

function effectTable({ amount }: OpsRequest, effects: readonly UpstreamEffect[], caption: string): Html {
  const cell = ({ before, after }: UpstreamEffect, of: keyof SampleCost) => {
    const now = after === undefined ? TEXTS.gone : amount(after[of]);
    const was = before === undefined ? TEXTS.gone : amount(before[of]);
    return html`<strong>${now}</strong>${now === was ? undefined : html`<br>${soft(`before ${was}`)}`}`;
  };
  return listing({
    caption,
    columns: ['Upstream', 'Hold', 'User pays', 'Margin'],
    numbers: [1, 2, 3],
    rows: effects.map((effect) => [
      `${effect.provider}/${effect.providerModel}`,
      ...(['hold', 'charge', 'margin'] as const).map((of) => cell(effect, of)),
    ]),
    empty: TEXTS.nothing,
  });
}

const USED_MS = 30 * 24 * 60 * 60 * 1_000;
/** `byApp` finds at most this many apps. */
const USED_MAX = 100;
const NAMED_MAX = 10;

/** Which apps have used any of these models lately: a change of them changes what their users pay. */
export async function usedBy({ clock, stats }: OpsRequest, models: readonly string[]) {
  const toMs = clock.nowMs();
  return stats.byApp({ of: 'every app', mode: 'live', models, fromMs: toMs - USED_MS, toMs });
}

/** The apps that a change of these models concerns, by name. */
export async function concernedApps(asked: OpsRequest, models: readonly string[]): Promise<Html> {
  const used = models.length === 0 ? [] : await usedBy(asked, models);
  const named = used.slice(0, NAMED_MAX);
  const names = await asked.operator.apps.names(named.map(({ appId }) => appId));
  const calls = asked.formats.count(used.reduce((all, one) => all + one.calls, 0));
  const isMost = used.length === USED_MAX;
  const links = named.map(({ appId }) => asked.appLink(appId, names));
  const rest = used.length - named.length;
  return html`<p>${TEXTS.apps({ apps: used.length, isMost, calls, models: models.length })}</p>
${links.length === 0 ? undefined : list(rest === 0 ? links : [...links, TEXTS.moreApps(rest, isMost)])}`;
}
