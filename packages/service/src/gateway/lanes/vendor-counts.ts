import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Lane } from '#gateway/call/lane.ts';
import { providerCallOf } from '#gateway/usage/hold-request.ts';
import { speaks } from '#providers/capabilities/capabilities.ts';
import { type Provider, UpstreamError } from '#providers/port/provider.ts';

/** Nobody pays for counts, so a process asks for no more of them at once, and estimates the rest. */
const AT_ONCE_MAX = 32;
const TIMEOUT_MS = 5_000;

interface VendorCountsOptions {
  readonly clientOf: (definition: CatalogueProvider, key: number) => Provider;
}

/** Asks the vendor who speaks the caller's wire how long a prompt is. A vendor that fails at it has no count. */
export function createVendorCounts({ clientOf }: VendorCountsOptions): NonNullable<Lane<'live'>['countPrompt']> {
  let inFlight = 0;
  return async ({ call: { upstreams }, asked }) => {
    const { native } = asked;
    const upstream = native && upstreams.find((one) => speaks(one, native.api));
    if (upstream === undefined || inFlight >= AT_ONCE_MAX) return undefined;
    const client = clientOf(upstream.provider, 0);
    inFlight += 1;
    try {
      return await client.countPrompt?.(providerCallOf(asked, { upstream, outputTokens: 1, timeoutMs: TIMEOUT_MS }));
    } catch (fault) {
      if (fault instanceof UpstreamError) return undefined;
      throw fault;
    } finally {
      inFlight -= 1;
    }
  };
}
