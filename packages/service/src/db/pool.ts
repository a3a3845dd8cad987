import pg from 'pg';
import type { Mode } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';

const INT8_OID = 20;

/** No statement of ours takes seconds; one that does is stuck, and its callers are better served by a retry. */
const STATEMENT_TIMEOUT_MS = 5_000;
const LOCK_TIMEOUT_MS = 250;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that has not even said that the statement timed out is not there any more: the connection is given up. */
const ANSWER_GRACE_MS = 2_000;

/** What a query runs on: a pool, or one of its connections inside a transaction. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

export type Pool = pg.Pool;

interface PoolOptions {
  readonly url: string;
  /** `live` may use real money and configuration, `sandbox` nothing but the sandbox. Migrations run as the owner. */
  readonly role: Mode | 'owner';
  readonly connectionsMax: number;
  readonly log: Log;
  /** For statements that may take longer than those of a call. */
  readonly statementMsMax?: number;
}

/**
 * Opens a pool whose connections act as the given role. `bigint` columns arrive as `bigint`. Connections are made when
 * they are needed and made anew after the server went away.
 */
export function createPool(options: PoolOptions): Pool {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8_OID ? (text: string) => BigInt(text) : pg.types.getTypeParser(oid, format ?? 'text'),
  };
  const statementMsMax = options.statementMsMax ?? STATEMENT_TIMEOUT_MS;
  const limits =
    options.role === 'owner'
      ? ''
      : `-c statement_timeout=${statementMsMax} -c lock_timeout=${LOCK_TIMEOUT_MS} ` +
        `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_TIMEOUT_MS} -c role=purser_${options.role}`;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    ...(options.role === 'owner' ? {} : { query_timeout: statementMsMax + ANSWER_GRACE_MS }),
    application_name: `purser_${options.role}`,
    options: limits,
    types,
  });
  // Without a listener, a connection that dies between two statements would end the process: one that is in use tells
  // its user by the next statement, one that is idle tells the pool.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (fault) => {
    if (!pool.ending) options.log.warn({ fault: describeFault(fault) }, 'a database connection was lost');
  });
  return pool;
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<Result>(pool: Pool, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    isBroken = false;
    return result;
  } catch (fault) {
    isBroken = await client.query('rollback').then(
      () => false,
      () => true,
    );
    throw fault;
  } finally {
    client.release(isBroken);
  }
}

/** Runs reads that must agree with one another, all of them as of one moment. */
export function inSnapshot<Result>(pool: Pool, read: (tx: Queryable) => Promise<Result>): Promise<Result> {
  return inTransaction(pool, async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    return read(tx);
  });
}

/** The driver's own faults, which carry no code. */
const SILENCE_MESSAGES = ['timeout exceeded when trying to connect', 'Query read timeout'];
const CONNECTION_MESSAGES = [...SILENCE_MESSAGES, 'Connection terminated', 'Client has encountered a connection error'];
const CONNECTION_CODE =
  /^E(CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOST(UNREACH|DOWN)|NET(UNREACH|DOWN)|ADDRNOTAVAIL|[MN]FILE)$/;
const CONNECTION_SQLSTATE = /^(08|57P0[1235]|53300)/;
/** Read-only after a failover, out of disk or memory, a system error: it is the server's, not the statement's. */
const SERVER_SQLSTATE = /^(25006|53|58)/;
/** Data that does not fit, a constraint, an exception that a function of ours raised. */
const ITEM_SQLSTATE = /^(22|23|P0)/;
/** A record has another number of attributes than here: a newer build has upgraded the database, and its processes will do. */
const MALFORMED_RECORD = /^malformed record literal/;

/** True when the server could not be reached or went away, so that the same statement may succeed on a new connection. */
export function isConnectionFault(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false;
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : '';
  return (
    CONNECTION_SQLSTATE.test(code) ||
    CONNECTION_CODE.test(code) ||
    CONNECTION_MESSAGES.some((message) => fault.message.includes(message))
  );
}

/** True when the server said nothing for seconds: it is stopped, or the network lost what was sent. */
export function isSilence(fault: unknown): boolean {
  return fault instanceof Error && SILENCE_MESSAGES.some((message) => fault.message.includes(message));
}

/** True when no statement could succeed now, whatever it says. */
export function isServerFault(fault: unknown): boolean {
  return isConnectionFault(fault) || SERVER_SQLSTATE.test(sqlStateOf(fault) ?? '');
}

/** True when the statement's own items are at fault, so that trying again would fail again. */
export function isItemFault(fault: unknown): boolean {
  const state = sqlStateOf(fault);
  if (state === undefined) return !isConnectionFault(fault);
  return ITEM_SQLSTATE.test(state) && !(fault instanceof Error && MALFORMED_RECORD.test(fault.message));
}

/** The SQLSTATE of a database error, or undefined for anything else. */
export function sqlStateOf(fault: unknown): string | undefined {
  return fault instanceof pg.DatabaseError ? fault.code : undefined;
}
