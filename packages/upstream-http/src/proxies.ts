/** A proxy that opens tunnels (CONNECT). */
export interface Proxy {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
  /** The value of the `proxy-authorization` header. It is undefined if the proxy's address has no user name. */
  readonly authorization: string | undefined;
}

/** The proxy that leads to a URL; undefined if connections are direct. */
export type FindProxy = (url: URL) => Proxy | undefined;

/** Variables of the environment. The names in small letters count first, as in other programs. */
type Environment = Readonly<Record<string, string | undefined>>;

interface Exception {
  readonly host: string;
  readonly port: string;
}

/**
 * The proxies of the environment: `HTTPS_PROXY` and `HTTP_PROXY` by the scheme of the URL, and none for the hosts of `NO_PROXY`, for
 * hosts below them, for this machine and for its metadata services. Throws if the address of a proxy cannot be used; the message does not contain it.
 */
export function proxiesOf(environment: Environment): FindProxy {
  const read = (name: string) => environment[name.toLowerCase()] || environment[name] || undefined;
  const tls = proxyAt('HTTPS_PROXY', read('HTTPS_PROXY'));
  const plain = proxyAt('HTTP_PROXY', read('HTTP_PROXY'));
  if (tls === undefined && plain === undefined) return () => undefined;
  const exceptions = exceptionsIn(read('NO_PROXY') ?? '');
  return (url) => {
    const proxy = url.protocol === 'https:' ? tls : plain;
    if (proxy === undefined || isOfThisMachine(url.hostname)) return undefined;
    return exceptions.some((exception) => covers(exception, url)) ? undefined : proxy;
  };
}

function proxyAt(name: string, text: string | undefined): Proxy | undefined {
  if (text === undefined) return undefined;
  // Other programs take addresses without a scheme.
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error(`${name} must look like http://user:password@proxy.example.com:3128.`);
  }
  const { username, password, port } = url;
  const isTls = url.protocol === 'https:';
  return {
    isTls,
    host: withoutBrackets(url.hostname),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    authorization: username === '' ? undefined : basic(name, username, password),
  };
}

function basic(name: string, user: string, password: string): string {
  try {
    const text = `${decodeURIComponent(user)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(text).toString('base64')}`;
  } catch {
    throw new Error(`${name} has a user name or password whose percent-encoding is broken.`);
  }
}

/**
 * Reads exceptions written as `example.com`, `.example.com` or `*.example.com`, each with a port or without one, or as
 * `*` for all.
 */
function exceptionsIn(text: string): readonly Exception[] {
  const words = text.toLowerCase().split(/[\s,]+/);
  return words
    .filter((word) => word !== '')
    .map((word) => {
      const name = word.replace(/^\*?\.(?=.)/, '');
      const [, host = name, port = ''] = /^(\[.*\]|[^:]+):(\d+)$/.exec(name) ?? [];
      return { host: withoutBrackets(host), port };
    });
}

function covers({ host, port }: Exception, url: URL): boolean {
  if (port !== '' && port !== (url.port || (url.protocol === 'https:' ? '443' : '80'))) return false;
  const name = withoutBrackets(url.hostname);
  return host === '*' || name === host || name.endsWith(`.${host}`);
}

/**
 * This machine, its link, and the metadata services of clouds: those of Amazon over IPv6, and Google's by name. A proxy would ask its
 * own machine, and send its credentials back.
 */
const OF_THIS_MACHINE =
  /^(localhost|127(\.\d+){3}|\[::1\]|169\.254(\.\d+){2}|\[fe[89ab][\da-f]:.*\]|\[fd00:ec2::[\da-f]+\]|metadata\.google\.internal\.?)$/;

function isOfThisMachine(hostname: string): boolean {
  return OF_THIS_MACHINE.test(hostname);
}

/** A URL writes an IPv6 address in brackets; `connect` takes it without them. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
