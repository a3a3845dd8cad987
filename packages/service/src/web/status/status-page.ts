import type { Clock } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type Incident, INCIDENT_DAYS, type ModelStatus, type ServiceStatus } from '#status/status.ts';
import { moment } from '#web/figures/figures.ts';
import { badge, card, linkLine, list, section } from '#web/components/parts.ts';
import type { Formats } from '#web/format/formats.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { STATUS_TEXTS as TEXTS } from '#web/status/texts.ts';

interface StatusServices {
  readonly frame: Frame;
  readonly readStatus: () => Promise<ServiceStatus>;
  readonly clock: Clock;
}

/** The most models that a page shows. Those that are up come last. */
const MODELS_MAX = 60;

/** Makes the page `/status`, which tells anybody how the service is. It works without the database, and says so. */
export function statusPage({ frame, readStatus, clock }: StatusServices): PageMethods {
  return {
    GET: async ({ formats }) => {
      const status = await readStatus();
      const { state, models } = status;
      const body = html`${card(
        html`<p>${badge(TEXTS.badges[state], state === 'up' ? 'good' : 'warn')}</p>`,
        html`<p>${TEXTS.meanings[state]}</p>`,
        html`<p class="soft">${TEXTS.asOf} ${moment(clock.nowMs(), formats)}</p>`,
      )}
${models.length === 0 ? undefined : modelsSection(models, formats)}
${incidentsSection(status, formats, clock.nowMs())}
<p class="soft">${TEXTS.how}</p>
${linkLine('/status.json', TEXTS.forPrograms)}`;
      return { status: 200, page: pageOf({ title: TEXTS.titles[state], body, frame }) };
    },
  };
}

function modelsSection(models: readonly ModelStatus[], formats: Formats): Html {
  const { heading, others } = TEXTS.models;
  const inOrder = [...models.filter(({ state }) => state !== 'up'), ...models.filter(({ state }) => state === 'up')];
  const shown = inOrder.slice(0, MODELS_MAX);
  const left = inOrder.length - shown.length;
  return section({
    id: 'models',
    heading,
    body: [
      list(shown.map((one) => modelLine(one, formats))),
      left === 0 ? undefined : html`<p class="soft">${others(left)}</p>`,
    ],
  });
}

function modelLine({ id, aliases, state, sinceMs }: ModelStatus, formats: Formats): Html {
  const also = aliases.length === 0 ? undefined : html` <span class="soft">${aliases.join(', ')}</span>`;
  const since =
    sinceMs === undefined
      ? undefined
      : html`<br><span class="soft">${TEXTS.models.since} ${moment(sinceMs, formats)}</span>`;
  return html`<div>${id}${also}${since}</div>${badge(TEXTS.badges[state], state === 'up' ? 'good' : 'warn')}`;
}

function incidentsSection({ incidents, isStale }: ServiceStatus, formats: Formats, nowMs: number): Html {
  const { heading, none, stale } = TEXTS.incidents;
  const lines = incidents.map(
    (one) => html`${sentenceOf(one, nowMs)}<br><span class="soft">${moment(one.beganAtMs, formats)}</span>`,
  );
  return section({
    id: 'incidents',
    heading: heading(INCIDENT_DAYS),
    body: [
      isStale ? html`<p>${stale}</p>` : undefined,
      lines.length > 0 ? list(lines) : isStale ? undefined : html`<p>${none}</p>`,
    ],
  });
}

function sentenceOf({ about, model, state, beganAtMs, endedAtMs }: Incident, nowMs: number): string {
  const { service, hidden, was, isStill } = TEXTS.incidents;
  const name = about === 'service' ? service : (model ?? hidden);
  const lasted = TEXTS.lasted((endedAtMs ?? nowMs) - beganAtMs);
  return (endedAtMs === undefined ? isStill : was)(name, TEXTS.words[state], lasted);
}
