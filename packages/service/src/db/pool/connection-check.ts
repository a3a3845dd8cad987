import pg from 'pg';
import type { Leader } from '#db/servers/probe.ts';

/** The limits of each connection, in milliseconds. */
interface Limits {
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleMs: number;
}

/** What a connection has asked for at its start. The owner of the schema has no limits. */
export interface Asked {
  readonly role: 'purser_live' | 'purser_sandbox' | 'owner';
  readonly limits: Limits | undefined;
}

/**
 * A connection that is not what was asked for. No statement runs on it. A connection fault: the server behind it may be changed, or
 * another may take over.
 */
export class UnfitConnectionError extends Error {
  readonly code = '08004';
}

const DIRECTLY = 'Let DATABASE_URL name the PostgreSQL server itself, without a pooler such as PgBouncer in between.';
/** What PgBouncer answers to a startup parameter that it does not know. */
const PROTOCOL_VIOLATION = '08P01';

/** The startup parameter with all of this. `jit` stands for the others where there are none: it is on by default. */
export function optionsOf({ role, limits }: Asked): string {
  if (limits === undefined) return '-c jit=off';
  return (
    `-c jit=off -c statement_timeout=${limits.statementMs} -c lock_timeout=${limits.lockMs} ` +
    `-c idle_in_transaction_session_timeout=${limits.idleMs} -c role=${role}`
  );
}

interface ConnectionRow {
  readonly role: string;
  readonly jit: string;
  readonly statement_ms: number;
  readonly lock_ms: number;
  readonly idle_ms: number;
  /** The id of the cluster. */
  readonly system_id: string;
  /** The timeline of the server. It is 0 if the server takes no writes. */
  readonly timeline: number;
}

/** The highest timeline of each cluster that this process has used. */
const used = new Map<string, number>();

const CHECK = `select current_user::text as role, current_setting('jit') as jit,
  extract(epoch from current_setting('statement_timeout')::interval)::float8 * 1000 as statement_ms,
  extract(epoch from current_setting('lock_timeout')::interval)::float8 * 1000 as lock_ms,
  extract(epoch from current_setting('idle_in_transaction_session_timeout')::interval)::float8 * 1000 as idle_ms,
  (select system_identifier::text from pg_control_system()) as system_id, case when pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' then 0
  else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/**
 * Asks a new connection what it is. Throws if a pooler dropped what was asked for, if it does not reach the expected leader, or if another
 * leader has succeeded that server: something in between, such as HAProxy, may lead there if it leads again by mistake.
 */
export async function checkConnection(client: pg.Client, asked: Asked, leader: Leader | undefined): Promise<void> {
  const { rows } = await client.query<ConnectionRow>(CHECK);
  const [row] = rows;
  const fault =
    row === undefined ? 'It does not answer.' : (dropped(row, asked) ?? misled(row, leader) ?? succeeded(row));
  if (fault !== undefined) throw new UnfitConnectionError(fault);
}

function dropped(row: ConnectionRow, { role, limits }: Asked): string | undefined {
  const why = `something in between drops the startup parameter \`options\`. ${DIRECTLY}`;
  if (limits !== undefined && row.role !== role) {
    return `Connections that ask for the role ${role} run as ${row.role}: ${why}`;
  }
  const isLimited =
    limits === undefined ||
    (row.statement_ms === limits.statementMs && row.lock_ms === limits.lockMs && row.idle_ms === limits.idleMs);
  return isLimited && row.jit === 'off' ? undefined : `Connections do not get the limits that they ask for: ${why}`;
}

function misled({ timeline }: ConnectionRow, leader: Leader | undefined): string | undefined {
  if (leader === undefined || timeline === leader.timeline) return undefined;
  return timeline === 0 ? 'The server takes no writes: it leads no more.' : 'The server was promoted a moment ago.';
}

function succeeded({ system_id: cluster, timeline }: ConnectionRow): string | undefined {
  const highest = used.get(cluster) ?? 0;
  if (timeline === 0 || timeline >= highest) {
    used.set(cluster, Math.max(highest, timeline));
    return undefined;
  }
  return (
    `The server is on timeline ${timeline}, and this process has used timeline ${highest}: what was confirmed there may be missing here. ` +
    'If that is meant, start the service again.'
  );
}

/** A fault of a connection that could not be opened, in words if a pooler is the reason. */
export function explainedFault(fault: unknown): unknown {
  if (!(fault instanceof pg.DatabaseError) || fault.code !== PROTOCOL_VIOLATION) return fault;
  const text = `The startup parameters of a connection were refused (${fault.message}). ${DIRECTLY}`;
  return new UnfitConnectionError(text, { cause: fault });
}
