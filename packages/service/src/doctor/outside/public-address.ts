import type { Dispatcher } from 'undici';
import { counted } from '#kernel/text/counted.ts';
import { DOCTOR_HEADER, type SeenRequest } from '#kernel/crypto/doctor-call.ts';
import { bad, faultName, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';
import { type HttpAnswer, httpGet } from '#doctor/outside/http-get.ts';

/** An address of documentation (RFC 5737), which the doctor claims to come from. Nobody may be believed who says this. */
export const CLAIMED_ADDRESS = '192.0.2.77';
const REDIRECTS_MAX = 5;

interface PublicAddress {
  readonly publicUrl: string;
  readonly proxyHops: number;
  /** Makes the gateway say what it saw. */
  readonly token: string;
  /** The name of the database that the doctor looks at. Undefined if it does not answer. */
  readonly database: string | undefined;
  readonly dispatcher: Dispatcher;
}

/** Calls the public address as a caller does, and judges what arrives at the gateway behind it. */
export async function tryPublicAddress(
  of: PublicAddress,
  signal: AbortSignal,
): Promise<Readonly<Record<'public-address' | 'forwarding' | 'same-database', CheckResult | undefined>>> {
  const nothing = { forwarding: undefined, 'same-database': undefined };
  const came = await arrive(of, signal);
  if ('failure' in came) return { ...nothing, 'public-address': came.failure };
  const sight = sightIn(came.look.body);
  if (came.look.status !== 200) {
    return { ...nothing, 'public-address': bad(`${of.publicUrl}/healthz answers ${came.look.status}, and not 200.`) };
  }
  if (sight === undefined) {
    return {
      ...nothing,
      'public-address': bad(`${of.publicUrl}/healthz answers, but no gateway with this PURSER_SECRET is behind it.`),
    };
  }
  return {
    'public-address': good(`${of.publicUrl} leads to a gateway of this service.`),
    forwarding: judgeForwarding(sight, of),
    'same-database': judgeDatabase(sight, of.database),
  };
}

/** Follows redirects by hand, to tell a loop from a detour. */
async function arrive(
  { publicUrl, token, dispatcher }: PublicAddress,
  signal: AbortSignal,
): Promise<{ readonly look: HttpAnswer } | { readonly failure: CheckResult }> {
  const first = `${publicUrl}/healthz`;
  const seen = new Set<string>();
  for (let url = first; seen.size <= REDIRECTS_MAX; ) {
    if (seen.has(url)) return { failure: bad(`${first} redirects in a loop.`) };
    seen.add(url);
    let look: HttpAnswer;
    // The token is for our own gateway, and an answer that redirects may come from anybody.
    const own = originOf(url) === originOf(first) ? { [DOCTOR_HEADER]: token } : {};
    const headers = { ...own, 'x-forwarded-for': CLAIMED_ADDRESS };
    try {
      look = await httpGet(url, { dispatcher, signal, headers });
    } catch (fault) {
      return { failure: warn(`${originOf(url)} could not be reached from here: ${faultName(fault)}.`) };
    }
    const next = look.status >= 300 && look.status < 400 ? URL.parse(look.location ?? '', url) : null;
    if (next === null) {
      if (seen.size === 1) return { look };
      return { failure: warn(`${first} redirects to ${originOf(url)}.`, `Set PURSER_PUBLIC_URL to ${originOf(url)}.`) };
    }
    url = next.href;
  }
  return { failure: bad(`${first} redirects more than ${REDIRECTS_MAX} times.`) };
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'an unknown address';
}

function sightIn(body: string): SeenRequest | undefined {
  try {
    const { seen } = JSON.parse(body) as { readonly seen?: SeenRequest };
    return Array.isArray(seen?.forwardedFor) ? seen : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Each proxy adds one entry to `x-forwarded-for`, or replaces all of it with one. What the doctor claimed itself comes first, so the
 * entries after it are those of the proxies.
 */
export function judgeForwarding(
  sight: SeenRequest,
  { proxyHops, publicUrl }: Pick<PublicAddress, 'proxyHops' | 'publicUrl'>,
): CheckResult {
  const { forwardedFor, forwardedProto, address } = sight;
  const hops = forwardedFor[0] === CLAIMED_ADDRESS ? forwardedFor.length - 1 : forwardedFor.length;
  const how = `Set PURSER_PROXY_HOPS to ${hops}.`;
  if (address === CLAIMED_ADDRESS) {
    const proxies = hops === 0 ? 'no proxy adds' : hops === 1 ? 'one proxy adds' : `${hops} proxies add`;
    return bad(
      `Callers can choose the address that they count under: PURSER_PROXY_HOPS is ${proxyHops}, and ${proxies} to \`x-forwarded-for\`.`,
      hops === 0 ? 'Let the proxy set `x-forwarded-for`, or set PURSER_PROXY_HOPS to 0.' : how,
    );
  }
  if (hops !== proxyHops) {
    return warn(
      `A request to the public address passes ${counted(hops, 'proxy', 'proxies')}, and PURSER_PROXY_HOPS is ${proxyHops}.`,
      how,
    );
  }
  const proto = new URL(publicUrl).protocol.slice(0, -1);
  if (forwardedProto !== undefined && forwardedProto !== proto) {
    return warn(
      `The proxy says that a caller used ${forwardedProto}, and PURSER_PUBLIC_URL is ${proto}.`,
      'Let the proxy pass on `x-forwarded-proto` of the first proxy, or take plain http away.',
    );
  }
  return good(
    `A request to the public address passes ${counted(hops, 'proxy', 'proxies')}, as PURSER_PROXY_HOPS says.`,
  );
}

function judgeDatabase({ database }: SeenRequest, own: string | undefined): CheckResult | undefined {
  if (database === undefined || own === undefined) return undefined;
  return database === own
    ? good('The gateway at the public address works on this database.')
    : bad('The gateway at the public address works on another database than this one, perhaps a restored copy of it.');
}
