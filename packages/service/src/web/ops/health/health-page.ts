import { type Html, html } from '#kernel/text/html.ts';
import type { Health } from '#operator/health/health.ts';
import { figures } from '#web/figures/figures.ts';
import { badge, definitionList, fold, list } from '#web/components/parts.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, part } from '#web/ops/frame/details.ts';
import { bytesText, durationText } from '#web/ops/health/measures.ts';
import { HEALTH_TEXTS as TEXTS } from '#web/ops/health/texts.ts';

/** The page `/ops/health`, which shows how the service runs. It keeps itself current. */
export const healthPage: OpsPage = {
  GET: async (asked) => {
    const health = await asked.operator.readHealth();
    const body = html`<p class="soft">The state of the service, as one of its processes sees it.</p>
<div id="now" data-live>
${tilesOf(asked, health)}
${doctorOf(asked, health)}
${queuesOf(asked, health)}
${checksOf(asked, health)}
${processesOf(asked, health)}
${databaseOf(asked, health)}
</div>
${settingsOf(health)}`;
    return asked.show({ title: 'Health', body, page: 'health' });
  },
};

function tilesOf({ formats }: OpsRequest, { processes, leases, disk }: Health): Html {
  return figures([
    { name: 'Gateway processes here', value: formats.count(processes.count) },
    { name: 'Gateways with a lease', value: formats.count(leases.length) },
    { name: 'Calls in progress', value: formats.count(processes.callsUnderWay) },
    { name: 'Memory', value: bytesText(processes.memoryBytes) },
    { name: 'Up for', value: durationText(processes.uptimeSeconds) },
    { name: TEXTS.block, value: durationText(processes.longestBlockSeconds), note: TEXTS.blockNote },
    disk === undefined
      ? { name: TEXTS.free, value: 'unknown' }
      : { name: TEXTS.free, value: bytesText(disk.freeBytes), note: TEXTS.ofDisk(bytesText(disk.totalBytes)) },
  ]);
}

function doctorOf({ clock, formats }: OpsRequest, { doctor: { atMs, findings } }: Health): Html {
  const wrong = findings.filter(({ level }) => level !== 'good');
  const right = findings.filter(({ level }) => level === 'good');
  const faults = wrong.map(
    ({ level, what, why, remedy }) =>
      html`<div>${badge(TEXTS.levels[level], 'warn')} <strong>${withCode(what)}</strong><br>${withCode(why)}<br>What to do: ${withCode(remedy)}</div>`,
  );
  const agoSeconds = Math.max(1, Math.round((clock.nowMs() - atMs) / 1_000));
  return part(
    'doctor',
    'What the doctor found',
    html`<p class="soft">${TEXTS.doctorWhat(TEXTS.ago(durationText(agoSeconds)))}</p>`,
    wrong.length === 0 ? html`<p>${badge('Everything is as it should be.', 'good')}</p>` : list(faults),
    fold(`${formats.count(right.length)} checks found no problem`, list(right.map(({ what }) => withCode(what)))),
  );
}

/** What stands between backticks, such as a command, is code on a page. */
function withCode(text: string): Html {
  return html`${text.split('`').map((words, at) => (at % 2 === 1 ? code(words) : html`${words}`))}`;
}

function queuesOf({ clock, formats }: OpsRequest, { queues, statsAtMs }: Health): Html {
  const shown = listing({
    caption: 'What is waiting now',
    columns: ['Queue', 'Waiting', 'Oldest'],
    numbers: [1, 2],
    rows: queues.map(({ name, waiting, oldestSeconds }) => [
      TEXTS.queueNames[name],
      formats.count(waiting),
      waiting === 0 || oldestSeconds === undefined ? '' : durationText(oldestSeconds),
    ]),
    empty: 'Nothing is waiting.',
  });
  const last = statsAtMs === undefined ? 'never' : TEXTS.ago(durationText((clock.nowMs() - statsAtMs) / 1_000));
  return part('queues', 'Queues', shown, html`<p class="soft">${TEXTS.stats(last)}</p>`);
}

function checksOf({ formats, moment }: OpsRequest, { checks }: Health): Html {
  return part('checks', 'Checks of the ledger', html`<p class="soft">${TEXTS.checksWhat}</p>`, {
    caption: 'Results',
    columns: ['When', 'Kind', 'Passes', 'Wallets', 'Longest', 'Differences', 'By process'],
    numbers: [2, 3, 4],
    rows: checks.map((check) => [
      moment(check.kind === 'full' ? check.endedAtMs : check.begunAtMs),
      TEXTS.kinds[check.kind],
      formats.count(check.passes),
      formats.count(check.wallets),
      durationText(check.longestMs / 1_000),
      check.differences === 0n ? badge('none', 'good') : badge(`${check.differences} wrong`, 'warn'),
      html`<code class="soft">${check.process}</code>`,
    ]),
    empty: 'No check has finished yet.',
  });
}

function processesOf({ formats, moment }: OpsRequest, { leases, lanes }: Health): Html {
  const ofLeases = listing({
    caption: 'Leases on this database',
    columns: ['Gateway', 'Since', 'Lease ends in'],
    numbers: [2],
    rows: leases.map(({ instanceId, startedAtMs, seconds }) => [
      instanceId,
      moment(startedAtMs),
      seconds < 0 ? badge('expired', 'warn') : durationText(seconds),
    ]),
    empty: 'No gateway has a lease.',
  });
  return part('processes', 'Processes', ofLeases, {
    caption: 'Calls by lane since the processes started',
    columns: ['Lane', 'Outcome', 'Calls'],
    numbers: [2],
    rows: lanes.map(({ mode, outcome, calls }) => [mode, outcome, formats.count(calls)]),
    empty: 'No calls have ended since then.',
  });
}

function databaseOf({ formats }: OpsRequest, { database, version }: Health): Html {
  const used = database.connections.reduce((sum, { count }) => sum + count, 0);
  const facts = definitionList([
    ['Purser', version],
    ['PostgreSQL', database.version],
    ['Schema', database.schema_version],
    ['Size', bytesText(Number(database.size_bytes))],
    ['Connections', `${formats.count(used)} of ${formats.count(database.connections_max)}`],
  ]);
  const connections = listing({
    caption: 'Connections to this database, by application name',
    columns: ['Name', 'Connections'],
    numbers: [1],
    rows: database.connections.map(({ name, count }) => [code(name), formats.count(count)]),
  });
  return part('database', 'Database', facts, connections, {
    caption: 'Settings that can make the server slow or make it lose committed data',
    columns: ['Setting', 'Value'],
    rows: database.settings.map(({ name, value }) => [code(name), value]),
  });
}

function settingsOf({ settings }: Health): Html {
  const shown = listing({
    caption: 'By name',
    columns: ['Setting', 'State'],
    rows: settings.map(({ name, isSet }) => [code(name), isSet ? 'set' : 'default']),
  });
  const what = html`<p class="soft">This shows only whether each setting is set, because some values are secrets.</p>`;
  return part('settings', 'Settings of the service', what, fold('Show all', shown));
}
