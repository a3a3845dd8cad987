import { namesAny } from '#db/health/standbys.ts';
import { counted } from '#kernel/text/counted.ts';
import { judgeArchive } from '#doctor/diagnosis/archive.ts';
import type { OwnFacts, StoredFacts } from '#doctor/diagnosis/facts.ts';
import { bad, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';

const VERSION_MIN = 15;
const CONNECTIONS_SHARE_MAX = 0.8;
/** What a gateway process opens at most, and what the server keeps for its superuser and for commands. */
const CONNECTIONS_OF_A_GATEWAY = 30;
const CONNECTIONS_OF_OTHERS = 6;
/** The embedded server keeps a part of its log every minute, also if the part is not full. */
const ARCHIVED_SECONDS_MAX = 900;
const PRICES_DAYS_MAX = 180;
const BACKUP_DAYS_MAX = 2;
const DAY_MS = 86_400_000;

export function judgeHosting({ version_number: version, encoding, ...row }: StoredFacts['hosting']): CheckResult {
  const major = Math.floor(version / 10_000);
  if (row.is_read_only) return bad('The database server accepts no writes: it is a standby, or set to read only.');
  if (major < VERSION_MIN)
    return bad(`The database server is PostgreSQL ${major}.`, `Upgrade it to ${VERSION_MIN} or newer.`);
  if (encoding !== 'UTF8')
    return bad(`The database has the encoding ${encoding}.`, 'Make a database with UTF8, and restore a dump into it.');
  if (row.has_other_collation) {
    return warn(
      'The system library that sorts text has changed since the database was made, so indexes of text may be wrong.',
    );
  }
  return good(`PostgreSQL ${major} accepts writes, and stores text as UTF-8.`);
}

export function judgeReplication(
  { isProduction, isEmbedded }: OwnFacts,
  row: StoredFacts['hosting'],
): CheckResult | undefined {
  if (isEmbedded || !isProduction) return undefined;
  const { standbys, waits_for_standby: waits } = row;
  if (waits && standbys === 0) {
    return bad(
      'Commits wait for a standby, and none is connected.',
      'Start the standby, or empty synchronous_standby_names and reload the server. A subscription to tables is no standby.',
    );
  }
  const seen = row.synchronous_standbys;
  if (waits && seen === null) {
    return warn(
      `Commits wait for a standby, and it cannot be seen whether one streams. ${standbys} are connected.`,
      'Run `grant pg_read_all_stats to` the user of DATABASE_URL as a superuser.',
    );
  }
  if (waits && seen === 0) {
    return bad(
      `Commits wait for a standby, and none of the ${standbys} that are connected keeps up as a synchronous one.`,
      'Look at pg_stat_replication: its names must fit synchronous_standby_names, those of subscriptions must not, and its state must be streaming.',
    );
  }
  if (waits && namesAny(row.standby_names)) {
    return warn(
      'synchronous_standby_names has `*`, so a subscription to any table may confirm a commit that no standby has.',
      'Name the standbys, for example `ANY 1 (a, b)`.',
    );
  }
  if (!waits && standbys > 0)
    return warn(
      `${counted(standbys, 'standby or log receiver is', 'standbys or log receivers are')} connected, and no commit waits for a confirmation.`,
    );
  return good(standbys === 0 ? 'No standby is connected.' : `Commits wait for a standby. ${seen} stream.`);
}

export function judgeBackups(own: OwnFacts, { hosting: row, nowMs, restored }: StoredFacts): CheckResult | undefined {
  const { isProduction, isEmbedded } = own;
  // A copy that nobody has accepted keeps its log to itself.
  const archive = restored === undefined ? judgeArchive(row) : undefined;
  if (archive !== undefined) return archive;
  if (!row.archives && row.standbys === 0) {
    if (!isProduction) return undefined;
    return warn(
      'The server keeps no archive of its log, so a restore goes back to the last full backup.',
      isEmbedded
        ? undefined
        : 'Use the backups of your provider, or set up pgBackRest as docs/guides/operator/backup.md#pgbackrest says, and restore one.',
    );
  }
  const seconds = row.archived_seconds;
  if (isEmbedded && row.archives && seconds > ARCHIVED_SECONDS_MAX) {
    return warn(`No part of the log was kept for ${Math.round(seconds / 60)} minutes.`);
  }
  const folder = judgeFolder(own, nowMs);
  if (folder !== undefined) return folder;
  return good(
    row.archives ? 'The server keeps an archive of its log.' : 'Another machine receives the log of the server.',
  );
}

function judgeFolder({ backups, isProduction }: OwnFacts, nowMs: number): CheckResult | undefined {
  if (backups === undefined) return undefined;
  if (backups === 'unreadable')
    return bad('PURSER_BACKUP_DIR cannot be read.', 'Mount its disk, and look at its rights.');
  const { lastAtMs, isOnDataDisk } = backups;
  const how = 'Run `npm run purser -- backup create` every night.';
  if (lastAtMs === undefined) return warn('There is no whole backup in PURSER_BACKUP_DIR, only the log.', how);
  const days = Math.floor((nowMs - lastAtMs) / DAY_MS);
  if (days > BACKUP_DAYS_MAX) return warn(`The last backup was made ${counted(days, 'day', 'days')} ago.`, how);
  if (isOnDataDisk && isProduction) {
    return warn(
      'PURSER_BACKUP_DIR is on the disk of the data directory, so both are lost together.',
      'Move it to another disk.',
    );
  }
  return undefined;
}

/** The pools of all gateways may grow at the same time: after a pause, or when many calls wait. */
export function judgeConnections({ connections: { used, most }, gateways }: StoredFacts): CheckResult {
  const about = `${used} of ${most} connections of the server are in use.`;
  if (used / most > CONNECTIONS_SHARE_MAX) return warn(about);
  const wanted = gateways * CONNECTIONS_OF_A_GATEWAY + CONNECTIONS_OF_OTHERS;
  if (wanted > most)
    return warn(
      `${counted(gateways, 'gateway', 'gateways')} may open up to ${wanted} connections, and the server allows ${most}.`,
    );
  return good(about);
}

export function judgePrices(
  { isProduction }: OwnFacts,
  { unpriced, changedDaysAgo }: StoredFacts['prices'],
): CheckResult {
  if (unpriced.length > 0) {
    return bad(
      `These models are on sale and have no price: ${unpriced.join(', ')}.`,
      'Give them a price, or `"free": true`, and import the catalogue.',
    );
  }
  if (isProduction && changedDaysAgo !== undefined && changedDaysAgo > PRICES_DAYS_MAX) {
    return warn(`No price has changed for ${counted(changedDaysAgo, 'day', 'days')}.`);
  }
  return good('Every model on sale has a price.');
}
