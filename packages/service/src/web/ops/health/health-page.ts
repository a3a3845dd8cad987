import { type Html, html } from '#kernel/text/html.ts';
import type { Health } from '#operator/health/health.ts';
import { badge } from '#web/components/badge.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { figures } from '#web/figures/figures.ts';
import { fold } from '#web/components/fold.ts';
import { list } from '#web/components/list.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part } from '#web/ops/frame/details.ts';
import { bytesText, durationText } from '#web/ops/health/measures.ts';
import { HEALTH_TEXTS as TEXTS } from '#web/ops/health/texts.ts';

/** The page `/ops/health`, which shows how the service runs. It keeps itself current. */
export const healthPage: OpsPage = {
  GET: async (asked) => {
    const health = await asked.operator.readHealth();
    const body = html`<p class="soft">${TEXTS.what}</p>
<div id="now" data-live>
${tilesOf(asked, health)}
${doctorOf(asked, health)}
${queuesOf(asked, health)}
${checksOf(asked, health)}
${processesOf(asked, health)}
${databaseOf(asked, health)}
</div>
${settingsOf(health)}`;
    return asked.show({ title: TEXTS.title, body, page: 'health' });
  },
};

function tilesOf({ formats }: OpsRequest, { processes, leases, disk }: Health): Html {
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

function doctorOf({ clock, formats }: OpsRequest, { doctor: { atMs, findings } }: Health): Html {
  const wrong = findings.filter(({ level }) => level !== 'good');
  const right = findings.filter(({ level }) => level === 'good');
  const faults = wrong.map(
    ({ level, what, why, remedy }) =>
      html`<div>${badge(TEXTS.levels[level], 'warn')} <strong>${withCode(what)}</strong><br>${withCode(why)}<br>${TEXTS.doctorDo} ${withCode(remedy)}</div>`,
  );
  const agoSeconds = Math.max(1, Math.round((clock.nowMs() - atMs) / 1_000));
  return part(
    'doctor',
    TEXTS.doctor,
    html`<p class="soft">${TEXTS.doctorWhat(TEXTS.ago(durationText(agoSeconds)))}</p>`,
    wrong.length === 0 ? html`<p>${badge(TEXTS.doctorAllGood, 'good')}</p>` : list(faults),
    fold(TEXTS.doctorGood(formats.count(right.length)), list(right.map(({ what }) => withCode(what)))),
  );
}

/** What stands between backticks, such as a command, is code on a page. */
function withCode(text: string): Html {
  return html`${text.split('`').map((words, at) => (at % 2 === 1 ? code(words) : html`${words}`))}`;
}

function queuesOf({ clock, formats }: OpsRequest, { queues, statsAtMs }: Health): Html {
  const shown = listing({
    caption: TEXTS.queueCaption,
    columns: TEXTS.queueColumns,
    numbers: [1, 2],
    rows: queues.map(({ name, waiting, oldestSeconds }) => [
      TEXTS.queueNames[name],
      formats.count(waiting),
      waiting === 0 || oldestSeconds === undefined ? '' : durationText(oldestSeconds),
    ]),
    empty: TEXTS.noQueues,
  });
  const last = statsAtMs === undefined ? TEXTS.never : TEXTS.ago(durationText((clock.nowMs() - statsAtMs) / 1_000));
  return part('queues', TEXTS.queues, shown, html`<p class="soft">${TEXTS.stats(last)}</p>`);
}

function checksOf({ formats, moment }: OpsRequest, { checks }: Health): Html {
  const shown = listing({
    caption: TEXTS.checkCaption,
    columns: TEXTS.checkColumns,
    numbers: [2, 3, 4],
    rows: checks.map((check) => [
      moment(check.kind === 'full' ? check.endedAtMs : check.begunAtMs),
      TEXTS.kinds[check.kind],
      formats.count(check.passes),
      formats.count(check.wallets),
      durationText(check.longestMs / 1_000),
      check.differences === 0n ? badge(TEXTS.good, 'good') : badge(TEXTS.wrong(String(check.differences)), 'warn'),
      html`<code class="soft">${check.process}</code>`,
    ]),
    empty: TEXTS.noChecks,
  });
  return part('checks', TEXTS.checks, html`<p class="soft">${TEXTS.checksWhat}</p>`, shown);
}

function processesOf({ formats, moment }: OpsRequest, { leases, lanes }: Health): Html {
  const ofLeases = listing({
    caption: TEXTS.leaseHeading,
    columns: TEXTS.leaseColumns,
    numbers: [2],
    rows: leases.map(({ instanceId, startedAtMs, seconds }) => [
      instanceId,
      moment(startedAtMs),
      seconds < 0 ? badge(TEXTS.ranOut, 'warn') : durationText(seconds),
    ]),
    empty: TEXTS.noLeases,
  });
  const ofLanes = listing({
    caption: TEXTS.lanes,
    columns: TEXTS.laneColumns,
    numbers: [2],
    rows: lanes.map(({ mode, outcome, calls }) => [mode, outcome, formats.count(calls)]),
    empty: TEXTS.noLanes,
  });
  return part('processes', TEXTS.processHeading, ofLeases, ofLanes);
}

function databaseOf({ formats }: OpsRequest, { database, version }: Health): Html {
  const used = database.connections.reduce((sum, { count }) => sum + count, 0);
  const facts = definitionList([
    [TEXTS.build, version],
    [TEXTS.version, database.version],
    [TEXTS.schema, database.schema_version],
    [TEXTS.size, bytesText(Number(database.size_bytes))],
    [TEXTS.connections, TEXTS.connectionsOf(formats.count(used), formats.count(database.connections_max))],
  ]);
  const connections = listing({
    caption: TEXTS.connectionCaption,
    columns: TEXTS.connectionColumns,
    numbers: [1],
    rows: database.connections.map(({ name, count }) => [code(name), formats.count(count)]),
  });
  const server = listing({
    caption: TEXTS.serverCaption,
    columns: TEXTS.serverColumns,
    rows: database.settings.map(({ name, value }) => [code(name), value]),
  });
  return part('database', TEXTS.database, facts, connections, server);
}

function settingsOf({ settings }: Health): Html {
  const shown = listing({
    caption: TEXTS.settingCaption,
    columns: TEXTS.settingColumns,
    rows: settings.map(({ name, isSet }) => [code(name), isSet ? TEXTS.isSet : TEXTS.isDefault]),
  });
  const what = html`<p class="soft">${TEXTS.settingsWhat}</p>`;
  return part('settings', TEXTS.settings, what, fold(TEXTS.showSettings, shown));
}
