// Plays whose cause is that something is held, damaged or waits in the database, and those that take a quarter of an hour.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { rewrite } from '../../support/rewrite.ts';
import { descendantsOf } from '../../support/service-process.ts';
import { sql } from '../../support/sql.ts';
import type { Observed, Play } from './stage.ts';

const SLOW_ROUNDS = 40;
const SILENT_MS = 700;
const BETWEEN_MS = 500;
const FORGERIES = 8;
/** Below nine tenths of the server's connections there is no alert. */
const CONNECTIONS_SHARE = 0.95;
/** The check is late after ten minutes, and the statistics after fifteen. */
const LONG_MS_MAX = 1_000_000;

interface CauseAndRemedy {
  readonly cause: Play['cause'];
  readonly remedy: NonNullable<Play['remedy']>;
}

async function connectTo({ ground }: Observed): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: ground.database.url });
  await client.connect();
  return client;
}

/** Locks rows, as a transaction that somebody forgot does, until it is told to let go. */
function holding(text: string): CauseAndRemedy {
  let client: pg.Client | undefined;
  return {
    cause: async (observed) => {
      client = await connectTo(observed);
      await client.query('begin');
      await client.query(text);
    },
    remedy: async () => client?.end(),
  };
}

/** A process is killed, and a forgotten transaction keeps the others from fencing it. */
function silentLease(): Play {
  const lease = holding(`select from db.instances where state = 'live' order by lease_until limit 1 for update`);
  return {
    alerts: ['PurserLeaseSilent'],
    cause: async (observed) => {
      const [worker = 0] = descendantsOf(observed.service.pid);
      process.kill(worker, 'SIGKILL');
      await pause(3_000); // The others renew their leases each second, so the oldest one is the dead one's.
      await lease.cause(observed);
    },
    remedy: lease.remedy,
  };
}

function fillingConnections(): CauseAndRemedy {
  let clients: readonly pg.Client[] = [];
  return {
    cause: async (observed) => {
      const rows = await sql<{ readonly most: number; readonly used: number }>(observed.ground)`
        select current_setting('max_connections')::int as most,
        (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`;
      const [{ most, used } = { most: 0, used: 0 }] = rows;
      const wanted = Math.floor(most * CONNECTIONS_SHARE) - used;
      clients = await Promise.all(Array.from({ length: wanted }, () => connectTo(observed)));
    },
    remedy: () => Promise.all(clients.map((client) => client.end())),
  };
}

/** The row that says where the chain of the audit trail ends. */
function losingHead(): CauseAndRemedy {
  let head: unknown;
  return {
    cause: async ({ ground }) => {
      const { rows } = await ground.database.owner.query<{ readonly head: unknown }>(
        'select to_jsonb(h) as head from audit.head h',
      );
      head = rows[0]?.head;
      await rewrite(ground.database, 'delete from audit.head');
    },
    remedy: ({ ground }) =>
      rewrite(ground.database, 'insert into audit.head select * from jsonb_populate_record(null::audit.head, $1)', [
        JSON.stringify(head),
      ]),
  };
}

export const HELD_PLAYS: readonly Play[] = [
  {
    // An act above the limit of one person leaves such a row.
    alerts: ['PurserActsWait'],
    cause: ({ ground }) =>
      rewrite(
        ground.database,
        `insert into operator.pending_acts (pending_id, action, subject, key, act, amount_micros, reason, requested_by, requested_email, expires_at)
         values ('pend_try', 'wallet.credited', 'app_try nobody', 'try', '{}', 1000000, 'a try', 'acct_try', 'e1.try', clock_timestamp() + interval '1 day')`,
      ),
    remedy: ({ ground }) =>
      rewrite(
        ground.database,
        `update operator.pending_acts set state = 'rejected', decided_by = 'acct_other', decided_email = 'e1.try', decided_at = clock_timestamp()
         where pending_id = 'pend_try'`,
      ),
  },
  {
    // As failures leave it, and as its owner enables it.
    alerts: ['PurserEndpointDisabled'],
    cause: ({ ground, app }) =>
      rewrite(
        ground.database,
        `insert into webhooks.subscriptions (app_id, endpoint_url, events, sealed_secret, secret_fingerprint, status, disabled_reason)
         values ($1, 'https://app.example.com/hook', '{topup.completed}', '\\x00', 'try', 'disabled', 'failures')`,
        [app.appId],
      ),
    remedy: ({ ground, app }) =>
      rewrite(
        ground.database,
        `update webhooks.subscriptions set status = 'active', disabled_reason = null where app_id = $1`,
        [app.appId],
      ),
  },
  {
    alerts: ['PurserPaymentWebhooksRefused'],
    cause: async ({ service }) => {
      for (let count = 0; count < FORGERIES; count += 1) {
        const headers = { 'content-type': 'application/json', 'stripe-signature': 't=1,v1=00' };
        await fetch(`${service.url}/webhooks/stripe`, { method: 'POST', headers, body: '{"type":"made.up"}' });
        await pause(1_000);
      }
    },
    remedy: async () => undefined,
  },
  {
    // Somebody with rights on the database deletes the head of the chain, and it comes back from a copy.
    alerts: ['PurserAuditBroken'],
    ...losingHead(),
  },
];

/** Each is a phase of its own. */
export const ALONE: readonly Play[] = [
  {
    // A network that stalls again and again.
    alerts: ['PurserDatabaseSlow'],
    cause: async ({ network }) => {
      for (let round = 0; round < SLOW_ROUNDS; round += 1) {
        network.fallSilent();
        await pause(SILENT_MS);
        network.restore();
        await pause(BETWEEN_MS);
      }
    },
    remedy: async () => undefined,
  },
  silentLease(),
  { alerts: ['PurserConnectionsShort'], ...fillingConnections() },
];

/** A quarter of an hour, because the alerts leave a service that has just started alone for so long. */
export const LONG_PLAYS: readonly Play[] = [
  {
    alerts: ['PurserBooksUnchecked'],
    ...holding('select from ledger.last_check for update'),
    fireMsMax: LONG_MS_MAX,
  },
  { alerts: ['PurserStatisticsOld'], ...holding('select from stats.passes for update'), fireMsMax: LONG_MS_MAX },
];
