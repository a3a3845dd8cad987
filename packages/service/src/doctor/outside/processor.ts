import type { Dispatcher } from 'undici';
import { bad, faultName, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';
import { httpGet } from '#doctor/outside/http-get.ts';

interface Reached {
  readonly found: CheckResult;
  readonly skews: readonly number[];
}

/** Reads one checkout at Stripe with the key of the settings: what every look at a payment needs. Nothing is created. */
export async function tryProcessor(
  { secretKey, apiBase }: { readonly secretKey: string; readonly apiBase: URL | undefined },
  leadingTo: (url: URL) => Dispatcher,
  signal: AbortSignal,
): Promise<Reached> {
  const url = new URL('/v1/checkout/sessions?limit=1', apiBase ?? 'https://api.stripe.com');
  const headers = { authorization: `Bearer ${secretKey}` };
  try {
    const { status, skewMs } = await httpGet(url.href, { dispatcher: leadingTo(url), signal, headers });
    return { found: judgeStatus(status), skews: skewMs === undefined ? [] : [skewMs] };
  } catch (fault) {
    return { found: bad(`The payment processor cannot be reached from here: ${faultName(fault)}.`), skews: [] };
  }
}

function judgeStatus(status: number): CheckResult {
  if (status === 200) return good('The payment processor accepts the key, and lets it read checkouts.');
  if (status === 401) return bad('The payment processor does not accept PURSER_STRIPE_SECRET_KEY.');
  if (status === 403) return bad('The payment processor does not let PURSER_STRIPE_SECRET_KEY read checkouts.');
  return warn(`The payment processor answers ${status}.`);
}
