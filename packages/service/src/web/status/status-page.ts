import type { Clock } from '#kernel/clock.ts';
import { type Html, html } from '#kernel/html.ts';
import { type Incident, INCIDENT_DAYS, type ModelStatus, type ServiceStatus } from '#status/status.ts';
import { badge } from '#web/components/badge.ts';
import { moment } from '#web/components/moment.ts';
import { linkLine } from '#web/components/navigation.ts';
import { card, section } from '#web/components/section.ts';
import { table } from '#web/components/table.ts';
import type { Formats } from '#web/format/formats.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { STATUS_TEXTS as TEXTS } from '#web/status/texts.ts';

interface StatusServices {
  readonly frame: Frame;
  readonly readStatus: () => Promise<ServiceStatus>;
  readonly clock: Clock;
}

/** A page has room for so many models; those that are up come last. */
const MODELS_MAX = 60;

/** `/status`: how the service is, for anybody. It works without the database, and says so. */
export function statusPage({ frame, readStatus, clock }: StatusServices): PageMethods {
  return {
    GET: async ({ formats }) => {
      const status = await readStatus();
      const { state, models } = status;
      const body = html`${card(
        html`<p>${badge(TEXTS.states[state === 'partial' ? 'out' : state], state === 'up' ? 'good' : 'warn')}</p>`,
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
  const { heading, caption, model, state, others } = TEXTS.models;
  const inOrder = [...models.filter((one) => one.state !== 'up'), ...models.filter((one) => one.state === 'up')];
  const rows = inOrder.slice(0, MODELS_MAX).map((one) => [nameOf(one), stateOf(one, formats)]);
  const left = inOrder.length - rows.length;
  return section({
    id: 'models',
    heading,
    body: [
      table({ caption, columns: [{ name: model }, { name: state }], rows, empty: '' }),
      left === 0 ? undefined : html`<p class="soft">${others(left)}</p>`,
    ],
  });
}

function nameOf({ id, aliases }: ModelStatus): Html {
  return html`${id}${aliases.length === 0 ? undefined : html` <span class="soft">${aliases.join(', ')}</span>`}`;
}

function stateOf({ state, sinceMs }: ModelStatus, formats: Formats): Html {
  const since = sinceMs === undefined ? undefined : html` ${TEXTS.models.since} ${moment(sinceMs, formats)}`;
  return html`${badge(TEXTS.states[state], state === 'up' ? 'good' : 'warn')}${since}`;
}

function incidentsSection({ incidents, isStale }: ServiceStatus, formats: Formats, nowMs: number): Html {
  const { heading, caption, what, began, lasted, none, stale } = TEXTS.incidents;
  const rows = incidents.map((one) => [whatOf(one), moment(one.beganAtMs, formats), lastedOf(one, nowMs)]);
  return section({
    id: 'incidents',
    heading: heading(INCIDENT_DAYS),
    body: [
      isStale ? html`<p>${stale}</p>` : undefined,
      isStale && rows.length === 0
        ? undefined
        : table({ caption, columns: [{ name: what }, { name: began }, { name: lasted }], rows, empty: none }),
    ],
  });
}

function whatOf({ about, model, state }: Incident): string {
  const { service, hidden, states } = TEXTS.incidents;
  const name = about === 'service' ? service : (model ?? hidden);
  return `${name}: ${states[state]}`;
}

function lastedOf({ beganAtMs, endedAtMs }: Incident, nowMs: number): string {
  const lasted = TEXTS.lasted((endedAtMs ?? nowMs) - beganAtMs);
  return endedAtMs === undefined ? `${lasted}, ${TEXTS.incidents.goesOn}` : lasted;
}
