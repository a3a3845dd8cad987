import pg from 'pg';
import { checkedClients } from '#db/pool/client.ts';
import { type Asked, optionsOf } from '#db/pool/connection-check.ts';
import { type DatabaseAddress, databaseAddressOf } from '#db/servers/hosts.ts';
import { createLeaderWatch, type LeaderWatch } from '#db/servers/leader.ts';
import { KeptConnectionPool } from '#db/pool/kept-connection.ts';
import { MeteredPool, type PoolUse } from '#db/pool/metrics.ts';
import type { EmailSeal } from '#kernel/values/email-seal.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';

const INT8_OID = 20;

/** None of our statements takes seconds. One that does is stuck, and a retry serves its callers better. */
export const STATEMENT_TIMEOUT_MS = 5_000;
/** The timeout is short, because one locked wallet would otherwise keep a whole batch of other wallets waiting. */
const LOCK_TIMEOUT_MS = 250;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * This is shorter than the four minutes after which the first firewalls and load balancers forget a silent connection.
 */
const TCP_KEEP_ALIVE_MS = 60_000;
/** A server that does not even report the timeout by then is gone. The connection is given up. */
export const ANSWER_GRACE_MS = 2_000;

/** What queries find besides the database: how addresses are sealed in it. */
interface Sealing {
  /** The seal of e-mail addresses. It is undefined for work that touches no address. */
  emails?: EmailSeal | undefined;
}

/** Anything that runs a query: a pool, or one of its connections inside a transaction. */
export type Queryable = Pick<pg.ClientBase, 'query'> & Readonly<Sealing>;

export type Pool = pg.Pool & Sealing;

/** Seals and opens the addresses of a database. Only queries use it: all other code has plain addresses. */
export function emailsOf({ emails }: Queryable): EmailSeal {
  if (emails === undefined) throw new Error('This connection has no key for e-mail addresses.');
  return emails;
}

/** A row with its address opened. */
export function withEmail<Row extends { readonly email: string }>(db: Queryable, row: Row): Row {
  return { ...row, email: emailsOf(db).open(row.email) };
}

interface PoolOptions {
  readonly url: string;
  /** `live` may use real money and configuration, `sandbox` only the sandbox. Migrations run as the owner. */
  readonly role: Mode | 'owner';
  readonly connectionsMax: number;
  readonly log: Log;
  /**
   * Keeps one connection open when there is nothing to do. For pools that a call waits for: a call after a pause would
   * otherwise wait for a new server process, which takes ten times as long as the call.
   */
  readonly keepsOne?: boolean;
  /** Keeps its one connection also between statements (`kept-connection.ts`). Only for statements that stand alone. */
  readonly keepsConnection?: boolean;
  /** How long a connection may take to open, in milliseconds. */
  readonly connectMsMax?: number;
  /** The statement timeout in milliseconds, for statements that may take longer than those of a call. */
  readonly statementMsMax?: number;
  /** The name in `pg_stat_activity`, after `purser_`. It is the role by default. */
  readonly name?: string;
  readonly emails?: EmailSeal | undefined;
  /** The label under which `/metrics` shows the pool. If it is undefined, the pool is not shown. */
  readonly use?: PoolUse;
  /** Its connections also take commands of replication, and no parameters. */
  readonly replicates?: boolean;
}

/**
 * Opens a pool whose connections act as the given role. If the URL names several hosts, they go to the leader (`leader.ts`). `bigint` columns arrive as `bigint`: a number would lose micros
 * above 2^53. Connections are made when they are needed, and again after the server went away.
 */
export function createPool(options: PoolOptions): Pool {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === INT8_OID ? (text: string) => BigInt(text) : pg.types.getTypeParser(oid, format ?? 'text'),
  };
  const statementMsMax = options.statementMsMax ?? STATEMENT_TIMEOUT_MS;
  const asked: Asked =
    options.role === 'owner'
      ? { role: 'owner', limits: undefined }
      : {
          role: `purser_${options.role}`,
          limits: { statementMs: statementMsMax, lockMs: LOCK_TIMEOUT_MS, idleMs: IDLE_IN_TRANSACTION_TIMEOUT_MS },
        };
  const address = databaseAddressOf(options.url);
  const config: pg.PoolConfig = {
    Client: checkedClients({ asked, watch: watchOf(options, address) }),
    connectionString: address.url,
    max: options.connectionsMax,
    min: options.keepsOne === true ? 1 : 0,
    connectionTimeoutMillis: options.connectMsMax ?? CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: TCP_KEEP_ALIVE_MS,
    ...(options.role === 'owner' ? {} : { query_timeout: statementMsMax + ANSWER_GRACE_MS }),
    application_name: `purser_${options.name ?? options.role}`,
    options: optionsOf(asked),
    types,
    ...(options.replicates === true && { replication: 'database' }),
  };
  const Metered = options.keepsConnection === true ? KeptConnectionPool : MeteredPool;
  const pool: Pool = options.use === undefined ? new pg.Pool(config) : new Metered(config, options.use);
  pool.emails = options.emails;
  pool.on('connect', (client) => {
    // The pool may get its key later than its first connections.
    Object.defineProperty(client, 'emails', { get: () => pool.emails });
  });
  pool.on('error', (fault) => {
    if (!pool.ending) options.log.warn({ fault: describeFault(fault) }, 'a database connection was lost');
  });
  return pool;
}

/** The watches by URL, because all pools of a process follow the leader together. */
const watches = new Map<string, LeaderWatch>();

function watchOf({ url, log }: PoolOptions, address: DatabaseAddress): LeaderWatch | undefined {
  if (!address.follows) return undefined;
  const watch = watches.get(url) ?? createLeaderWatch({ address, log });
  watches.set(url, watch);
  return watch;
}

/** Runs `work` in one transaction: commits when it returns, rolls back when it throws. */
export function inTransaction<Result>(pool: Pool, work: (tx: Queryable) => Promise<Result>): Promise<Result> {
  return transaction(pool, 'begin', work);
}

/** Runs reads that must agree with one another. All of them see the database as of one moment. */
export function inSnapshot<Result>(pool: Pool, read: (tx: Queryable) => Promise<Result>): Promise<Result> {
  return transaction(pool, 'begin isolation level repeatable read, read only', read);
}

async function transaction<Result>(
  pool: Pool,
  begin: string,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true; // A connection in an unknown state must not go back into the pool.
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('commit');
    isBroken = false;
    return result;
  } catch (fault) {
    const isRolledBack = await client.query('rollback').then(
      () => true,
      () => false,
    );
    // A server that turned read-only rolls back, and would refuse the next transaction too.
    isBroken = !isRolledBack || isServerFault(fault);
    throw fault;
  } finally {
    client.release(isBroken);
  }
}

/**
 * The driver's own faults. They carry no code, so we can only compare their messages. A connection that is not open in time has three
 * wordings: of a statement that waits for the pool, of the connection that the pool opens for it, and of the client alone.
 */
export const SILENCE = 'Query read timeout';
const SILENCE_MESSAGES = [
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'timeout expired',
  SILENCE,
];
const CONNECTION_MESSAGES = [...SILENCE_MESSAGES, 'Connection terminated', 'Client has encountered a connection error'];
const CONNECTION_CODE =
  /^E(CONNREFUSED|CONNRESET|CONNABORTED|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOST(UNREACH|DOWN)|NET(UNREACH|DOWN)|ADDRNOTAVAIL|[MN]FILE)$/;
const CONNECTION_SQLSTATE = /^(08|57P0[1235]|53300)/;
/**
 * These states mean read-only after a failover, out of disk or memory, or a system error: the server is at fault, not
 * the statement.
 */
const SERVER_SQLSTATE = /^(25006|53|58)/;
/** These states mean data that does not fit, a constraint, or an exception that one of our functions raised. */
const ITEM_SQLSTATE = /^(22|23|P0)/;
/**
 * The function of the server that refuses a record with another number of attributes than its type. A newer build has upgraded
 * the database, and one of its processes can still settle what this one cannot, so the item is not at fault. The message
 * would say so too, but the server writes it in its own language.
 */
const RECORD_READER = 'record_in';

/**
 * Returns true if the server could not be reached or went away, so that the same statement may succeed on a new
 * connection.
 */
export function isConnectionFault(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false;
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : '';
  return (
    CONNECTION_SQLSTATE.test(code) ||
    CONNECTION_CODE.test(code) ||
    CONNECTION_MESSAGES.some((message) => fault.message.includes(message))
  );
}

/** Returns true if the server was silent for seconds, because it is stopped or the network loses packets. */
export function isSilence(fault: unknown): boolean {
  return fault instanceof Error && SILENCE_MESSAGES.some((message) => fault.message.includes(message));
}

/** Returns true if no statement at all can succeed now. */
export function isServerFault(fault: unknown): boolean {
  return isConnectionFault(fault) || SERVER_SQLSTATE.test(sqlStateOf(fault) ?? '');
}

/** Returns true if the items of the statement are at fault, so that another try would fail again. */
export function isItemFault(fault: unknown): boolean {
  const state = sqlStateOf(fault);
  if (state === undefined) return !isConnectionFault(fault);
  return ITEM_SQLSTATE.test(state) && !(fault instanceof pg.DatabaseError && fault.routine === RECORD_READER);
}

/** Returns the SQLSTATE of a database error, or undefined for any other fault. */
export function sqlStateOf(fault: unknown): string | undefined {
  return fault instanceof pg.DatabaseError ? fault.code : undefined;
}
