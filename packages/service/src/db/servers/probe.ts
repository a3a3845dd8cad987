import pg from 'pg';
import type { Host } from '#db/servers/hosts.ts';

/** What a server said about itself. */
export interface Standing {
  /** The id of the cluster, which is the same for the leader and its standbys. */
  readonly systemId: string;
  /**
   * The timeline of the server. It is 0 for a standby, and for a server that is set to read only. Each promotion begins
   * a higher one.
   */
  readonly timeline: number;
}

/** The server that takes writes, and since which promotion. */
export interface Leader {
  readonly host: Host;
  /** The timeline of its `Standing`. A server that was succeeded is known by it, even if it still takes writes. */
  readonly timeline: number;
}

/** A connection that only asks a server whether it leads. */
export interface Probe {
  /** Rejects if the server does not answer in time. */
  readonly ask: () => Promise<Standing>;
  readonly close: () => void;
}

/** A leader answers within milliseconds. A slower one is asked again. */
const CONNECT_MS_MAX = 2_000;
const ANSWER_MS_MAX = 1_000;

/** The timeline is that of the log that the server writes now: the control file tells it only after the next checkpoint. */
const STANDING = `select system_identifier::text as system_id, case
    when pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' then '0'
    else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline
  from pg_control_system()`;

/** Connects to one host. `url` has the user, the database and how to encrypt; its host is not used. `ended` tells once that the connection is gone. */
export async function openProbe(url: string, { name, port }: Host, ended = (): void => {}): Promise<Probe> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    application_name: 'purser_watch',
  });
  client.host = name;
  client.port = port;
  client.on('error', () => {});
  client.once('end', ended);
  const close = (): void => {
    client.off('end', ended);
    client.connection.stream.destroy(); // At once: a server that is frozen hears no farewell.
  };
  try {
    await client.connect();
  } catch (fault) {
    close();
    throw fault;
  }
  return {
    ask: async () => {
      const { rows } = await client.query<{ readonly system_id: string; readonly timeline: string }>(STANDING);
      return { systemId: rows[0]?.system_id ?? '', timeline: Number.parseInt(rows[0]?.timeline ?? '0', 16) };
    },
    close,
  };
}
