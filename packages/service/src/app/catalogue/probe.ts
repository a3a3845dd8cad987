import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Config } from '#app/settings/config.ts';
import { ALL_OF_THE_FORMAT, PARAMETERS } from '#gateway/parameters/parameters.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { fetchLimits } from '#probe/listed-limits.ts';
import { probe, type Probed, ProbeStopped, type ProbeTarget } from '#probe/probe.ts';
import type { FormatParameters } from '#probe/proposal.ts';
import { createProviderKeys } from '#providers/keys/provider-keys.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { createProviderRegistry } from '#providers/registry.ts';

/** This is longer than a small answer takes, also from a server that first loads the model. */
const ANSWER_MS_MAX = 120_000;

interface Prober {
  readonly probe: (target: ProbeTarget, options: { readonly fillsContext: boolean }) => Promise<Probed>;
  readonly close: () => void;
}

type ProberSettings = Pick<Config, 'providerKeys' | 'readEnvironment' | 'outboundEnvironment'>;

/**
 * What an entry without a list of parameters stands for. Without `safety_identifier`: a list that names it sends a pseudonym with
 * every call, and servers that do not know the field refuse them all.
 */
export const FORMAT_PARAMETERS: FormatParameters = {
  word: ALL_OF_THE_FORMAT,
  names: [...PARAMETERS.keys()].filter((name) => name !== 'safety_identifier'),
};

/** Opens clients of providers as a gateway has them: the same adapters, keys and proxies. */
export function openProber(settings: ProberSettings): Prober {
  const keys = createProviderKeys({ ...settings, clock: steadyClock });
  const providers = createProviderRegistry({
    simulatorUrl: undefined,
    keys,
    environment: settings.outboundEnvironment,
  });
  return {
    probe: (target, { fillsContext }) => {
      const { definition } = target;
      if (definition.kind === 'simulator') throw new ProbeStopped('The simulator runs within the service only.');
      const [key] = keys.sourcesOf(definition);
      if (!providers.canReach(definition)) {
        throw new ProbeStopped('Its key is not set here, or may not be sent to its address.');
      }
      return probe(target, {
        clientOf: (changed) => providers.clientOf(changed, 0),
        limitsOf: async ({ providerModel }) => {
          const asked = await headersOf(definition, key);
          return asked === undefined ? undefined : fetchLimits(asked.baseUrl, asked.headers, providerModel);
        },
        fillsContext,
        timeoutMs: ANSWER_MS_MAX,
      });
    },
    close: providers.close,
  };
}

/** How a server of the compatible format is asked for its list of models. Other kinds are not asked. */
async function headersOf(definition: CatalogueProvider, key: KeySource | undefined) {
  if (definition.kind !== 'openai-compatible') return undefined;
  const { baseUrl, authHeader = 'authorization', headers } = definition;
  const secret = await key?.current();
  if (secret === undefined || key === undefined) return { baseUrl, headers: { ...headers } };
  const isBearer = authHeader === 'authorization' || key.isToken;
  const keyHeader = isBearer ? { authorization: `Bearer ${secret}` } : { [authHeader]: secret };
  return { baseUrl, headers: { ...headers, ...keyHeader } };
}
