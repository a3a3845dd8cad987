import type { Dispatcher } from 'undici';
import { counted } from '#kernel/text/counted.ts';
import { bad, faultName, type CheckResult, good } from '#doctor/findings/check-result.ts';
import { httpGet } from '#doctor/outside/http-get.ts';
import { withinTime } from '#doctor/outside/within-time.ts';

/** A place that calls go to. */
interface Place {
  readonly name: string;
  readonly origin: string;
}

interface Reached {
  readonly found: CheckResult;
  /** How far the clocks of others are ahead of ours. */
  readonly skews: readonly number[];
}

const MS_MAX = 6_000;

/** Asks each provider for its front page, without a key. Any answer will do: it shows that name, network, proxy and TLS work. */
export async function tryProviders(
  places: readonly Place[],
  leadingTo: (url: URL) => Dispatcher,
): Promise<Reached | undefined> {
  if (places.length === 0) return undefined;
  const looks = await Promise.all(
    places.map(async ({ name, origin }) => {
      const look = await withinTime(
        (signal) => httpGet(origin, { dispatcher: leadingTo(new URL(origin)), signal }).catch(faultName),
        MS_MAX,
      );
      const result = 'result' in look ? look.result : 'no answer in time';
      return typeof result === 'string'
        ? { name, fault: result, skewMs: undefined }
        : { name, fault: undefined, ...result };
    }),
  );
  const lost = looks.flatMap(({ name, fault }) => (fault === undefined ? [] : [`${name} (${fault})`]));
  return {
    found:
      lost.length > 0
        ? bad(`These providers cannot be reached from here: ${lost.join(', ')}.`)
        : good(`${counted(looks.length, 'provider', 'providers')} can be reached.`),
    skews: looks.flatMap(({ skewMs }) => (skewMs === undefined ? [] : [skewMs])),
  };
}
