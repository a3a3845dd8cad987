/** One server of `DATABASE_URL`. */
export interface Host {
  /** A name or an address, without the brackets of IPv6. */
  readonly name: string;
  readonly port: number;
}

/** What `DATABASE_URL` names. */
export interface DatabaseAddress {
  /** The hosts in the order of the URL. There is at least one. */
  readonly hosts: readonly Host[];
  /** The URL with the first host only, as the driver takes it. */
  readonly url: string;
  /** The name of the database. */
  readonly database: string;
  /**
   * It is true if there are several hosts or `target_session_attrs=read-write`. Connections then go to the leader and
   * follow it.
   */
  readonly follows: boolean;
}

const SHAPE = /^(postgres(?:ql)?:\/\/)([^/?#]*)(.*)$/s;
const PORT = 5432;
const HOSTS_MAX = 16;
const LEADER = ['read-write', 'primary'];
const LOOKS_LIKE = 'postgres://user:password@host:port/database';

/**
 * Reads `DATABASE_URL`. It may name several hosts as libpq takes them: `postgres://u:p@h1:5432,h2:5432/db`. Returns a sentence about
 * what is wrong with it, without the password.
 */
export function readDatabaseUrl(text: string): DatabaseAddress | string {
  const [, scheme = '', authority = '', rest = ''] = SHAPE.exec(text) ?? [];
  if (scheme === '') return `DATABASE_URL must look like ${LOOKS_LIKE}.`;
  const at = authority.lastIndexOf('@') + 1;
  const user = authority.slice(0, at);
  const names = authority.slice(at).split(',');
  const urls = names.map((name) => URL.parse(`${scheme}${name === '' ? '' : user}${name}${rest}`));
  const [first] = urls;
  if (first === null || first === undefined || urls.includes(null)) {
    return `DATABASE_URL must look like ${LOOKS_LIKE}, or name several hosts with commas in between.`;
  }
  const hosts = urls.map((url) => hostOf(url ?? first));
  const fault = faultOf(hosts, first.searchParams);
  if (fault !== undefined) return fault;
  const follows = hosts.length > 1 || first.searchParams.has('target_session_attrs');
  const database = first.pathname.slice(1);
  return { hosts, database, url: `${scheme}${user}${names[0] ?? ''}${rest}`, follows };
}

/** The same for a URL that was checked when the settings were read. */
export function databaseAddressOf(url: string): DatabaseAddress {
  const address = readDatabaseUrl(url);
  if (typeof address === 'string') throw new Error(address);
  return address;
}

/** Names the database and its hosts, without user and password: for messages. */
export function databaseInWords(url: string): string {
  const { hosts, database } = databaseAddressOf(url);
  return `The database ${database} at ${hosts.map(textOf).join(', ')}`;
}

function hostOf({ hostname, port }: URL): Host {
  return { name: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? PORT : Number(port) };
}

function faultOf(hosts: readonly Host[], parameters: URLSearchParams): string | undefined {
  const attributes = parameters.get('target_session_attrs');
  if (attributes !== null && !LEADER.includes(attributes)) {
    return 'DATABASE_URL may only have target_session_attrs=read-write: calls need the leader.';
  }
  const isListed = ['host', 'port'].some((name) => parameters.get(name)?.includes(','));
  if (isListed)
    return 'DATABASE_URL must name several hosts before the path: postgres://user:password@h1:5432,h2:5432/database.';
  if (hosts.length === 1) {
    if (attributes === null || hosts[0]?.name !== '') return undefined;
    return 'DATABASE_URL must name a host if it has target_session_attrs.';
  }
  if (hosts.length > HOSTS_MAX) return `DATABASE_URL may name up to ${HOSTS_MAX} hosts.`;
  if (hosts.some(({ name }) => name === '')) return 'DATABASE_URL has an empty host between its commas.';
  if (parameters.has('host') || parameters.has('port')) {
    return 'DATABASE_URL names several hosts, and host or port in its query as well. Remove them from the query.';
  }
  const isTwice = new Set(hosts.map(textOf)).size < hosts.length;
  return isTwice ? 'DATABASE_URL names the same host and port twice.' : undefined;
}

/** Returns the host as people write it, such as `db1:5432`. */
export function textOf({ name, port }: Host): string {
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}
