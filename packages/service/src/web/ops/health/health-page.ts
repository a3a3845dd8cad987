import { type Html, html } from '#kernel/text/html.ts';
import type { Health, Queue } from '#operator/health/health.ts';
import { badge } from '#web/components/badge.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { figures } from '#web/figures/figures.ts';
import { fold } from '#web/components/fold.ts';
import { list } from '#web/components/list.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { Formats } from '#web/format/formats.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import type { OpsServices } from '#web/ops/frame/asked.ts';
import { bytesText, durationText } from '#web/ops/health/measures.ts';
import { HEALTH_TEXTS as TEXTS } from '#web/ops/health/texts.ts';

/** Makes the page `/ops/health`, which shows how the service runs. It keeps itself current. */
export function healthPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { formats } = asked.request;
      const health = await services.operator.readHealth();
      const body = html`<p class="soft">${TEXTS.what}</p>
<div id="now" data-live>
${tilesOf(health, formats)}
${doctorOf(health, services.clock.nowMs(), formats)}
${queuesOf(health, services.clock.nowMs(), formats)}
${checksOf(health, formats)}
${processesOf(health, formats)}
${databaseOf(health, formats)}
</div>
${settingsOf(health)}`;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'health' });
    },
  });
}

function tilesOf({ processes, leases, disk }: Health, formats: Formats): Html {
  return figures([
    { name: TEXTS.processes, value: formats.count(processes.count) },
    { name: TEXTS.leases, value: formats.count(leases.length) },
    { name: TEXTS.calls, value: formats.count(processes.callsUnderWay) },
    { name: TEXTS.memory, value: bytesText(processes.memoryBytes) },
    { name: TEXTS.uptime, value: durationText(processes.uptimeSeconds) },
    { name: TEXTS.block, value: durationText(processes.longestBlockSeconds), note: TEXTS.blockNote },
    disk === undefined
      ? { name: TEXTS.free, value: TEXTS.noDisk }
      : { name: TEXTS.free, value: bytesText(disk.freeBytes), note: TEXTS.ofDisk(bytesText(disk.totalBytes)) },
  ]);
}

function doctorOf({ doctor: { atMs, findings } }: Health, nowMs: number, formats: Formats): Html {
  const wrong = findings.filter(({ level }) => level !== 'good');
  const right = findings.filter(({ level }) => level === 'good');
  const faults = wrong.map(
    ({ level, what, why, remedy }) =>
      html`<div>${badge(TEXTS.levels[level], 'warn')} <strong>${withCode(what)}</strong><br>${withCode(why)}<br>${TEXTS.doctorDo} ${withCode(remedy)}</div>`,
  );
  const others = html`<ul>${right.map(({ what }) => html`<li>${withCode(what)}</li>\n`)}</ul>`;
  const agoSeconds = Math.max(1, Math.round((nowMs - atMs) / 1_000));
  return section({
    id: 'doctor',
    heading: TEXTS.doctor,
    body: [
      html`<p class="soft">${TEXTS.doctorWhat(TEXTS.ago(durationText(agoSeconds)))}</p>`,
      wrong.length === 0 ? html`<p>${badge(TEXTS.doctorAllGood, 'good')}</p>` : list(faults),
      fold(TEXTS.doctorGood(formats.count(right.length)), others),
    ],
  });
}

/** What stands between backticks, such as a command, is code on a page. */
function withCode(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

function queuesOf({ queues, statsAtMs }: Health, nowMs: number, formats: Formats): Html {
  const list = table({
    caption: TEXTS.queueCaption,
    columns: TEXTS.queueColumns.map((name, at) => ({ name, isNumeric: at > 0 })),
    rows: queues.map((queue) => [TEXTS.queueNames[queue.name], formats.count(queue.waiting), oldestOf(queue)]),
    empty: TEXTS.noQueues,
  });
  const last = statsAtMs === undefined ? TEXTS.never : TEXTS.ago(durationText((nowMs - statsAtMs) / 1_000));
  return section({ id: 'queues', heading: TEXTS.queues, body: [list, html`<p class="soft">${TEXTS.stats(last)}</p>`] });
}

function oldestOf({ waiting, oldestSeconds }: Queue): string {
  return waiting === 0 || oldestSeconds === undefined ? '' : durationText(oldestSeconds);
}

function checksOf({ checks }: Health, formats: Formats): Html {
  const list = table({
    caption: TEXTS.checkCaption,
    columns: TEXTS.checkColumns.map((name, at) => ({ name, isNumeric: at > 1 && at < 5 })),
    rows: checks.map((check) => [
      moment(check.kind === 'full' ? check.endedAtMs : check.begunAtMs, formats),
      TEXTS.kinds[check.kind],
      formats.count(check.passes),
      formats.count(check.wallets),
      durationText(check.longestMs / 1_000),
      check.differences === 0n ? badge(TEXTS.good, 'good') : badge(TEXTS.wrong(String(check.differences)), 'warn'),
      html`<code class="soft">${check.process}</code>`,
    ]),
    empty: TEXTS.noChecks,
  });
  return section({ id: 'checks', heading: TEXTS.checks, body: [html`<p class="soft">${TEXTS.checksWhat}</p>`, list] });
}

function processesOf({ leases, lanes }: Health, formats: Formats): Html {
  const ofLeases = table({
    caption: TEXTS.leaseHeading,
    columns: TEXTS.leaseColumns.map((name, at) => ({ name, isNumeric: at === 2 })),
    rows: leases.map(({ instanceId, startedAtMs, seconds }) => [
      instanceId,
      moment(startedAtMs, formats),
      seconds < 0 ? badge(TEXTS.ranOut, 'warn') : durationText(seconds),
    ]),
    empty: TEXTS.noLeases,
  });
  const ofLanes = table({
    caption: TEXTS.lanes,
    columns: TEXTS.laneColumns.map((name, at) => ({ name, isNumeric: at === 2 })),
    rows: lanes.map(({ mode, outcome, calls }) => [mode, outcome, formats.count(calls)]),
    empty: TEXTS.noLanes,
  });
  return section({ id: 'processes', heading: TEXTS.processHeading, body: [ofLeases, ofLanes] });
}

function databaseOf({ database, version }: Health, formats: Formats): Html {
  const used = database.connections.reduce((sum, { count }) => sum + count, 0);
  const facts = definitionList([
    [TEXTS.build, version],
    [TEXTS.version, database.version],
    [TEXTS.schema, database.schema_version],
    [TEXTS.size, bytesText(Number(database.size_bytes))],
    [TEXTS.connections, TEXTS.connectionsOf(formats.count(used), formats.count(database.connections_max))],
  ]);
  const connections = table({
    caption: TEXTS.connectionCaption,
    columns: TEXTS.connectionColumns.map((name, at) => ({ name, isNumeric: at === 1 })),
    rows: database.connections.map(({ name, count }) => [html`<code>${name}</code>`, formats.count(count)]),
    empty: '',
  });
  const server = table({
    caption: TEXTS.serverCaption,
    columns: TEXTS.serverColumns.map((name) => ({ name })),
    rows: database.settings.map(({ name, value }) => [html`<code>${name}</code>`, value]),
    empty: '',
  });
  return section({ id: 'database', heading: TEXTS.database, body: [facts, connections, server] });
}

function settingsOf({ settings }: Health): Html {
  const list = table({
    caption: TEXTS.settingCaption,
    columns: TEXTS.settingColumns.map((name) => ({ name })),
    rows: settings.map(({ name, isSet }) => [html`<code>${name}</code>`, isSet ? TEXTS.isSet : TEXTS.isDefault]),
    empty: '',
  });
  const body = [html`<p class="soft">${TEXTS.settingsWhat}</p>`, fold(TEXTS.showSettings, list)];
  return section({ id: 'settings', heading: TEXTS.settings, body });
}
