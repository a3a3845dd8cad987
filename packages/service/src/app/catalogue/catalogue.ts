import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Ground } from '#app/process/ground.ts';
import type { Config } from '#app/settings/config.ts';
import { type Catalogue, createCatalogue } from '#catalogue/catalogue.ts';
import type { UpstreamReport } from '#gateway/upstream/report.ts';
import { createUpstreams, type Upstreams } from '#gateway/upstream/upstreams.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { randomShare } from '#kernel/crypto/random.ts';
import type { TestTarget } from '#operator/catalogue/provider-test.ts';
import { testCall, type TestedCall } from '#probe/test-call.ts';
import { showErrorTexts } from '#providers/errors/redacted-text.ts';
import { createProviderKeys } from '#providers/keys/provider-keys.ts';
import { createProviderRegistry } from '#providers/registry.ts';

/** The catalogue in memory, with the clients of its providers and what is known of how they serve. */
export interface Served {
  readonly catalogue: Catalogue;
  readonly providers: ReturnType<typeof openProviders>;
  readonly upstreams: Upstreams;
  readonly readUpstreams: () => readonly UpstreamReport[];
  /** Makes one small call by the clients that calls use, so that it shows what calls would meet (MO-11). Undefined without a key. */
  readonly testCall: (target: TestTarget) => Promise<TestedCall | undefined>;
}

export function openCatalogue({ config, pools, log }: Ground, simulatorUrl: string | undefined): Served {
  const providers = openProviders(config, simulatorUrl);
  const keysOf = (definition: CatalogueProvider) => providers.clientsOf(definition).map(({ keyName }) => keyName);
  const upstreams = createUpstreams({ log, keysOf, clock: steadyClock, random: randomShare });
  const catalogue = createCatalogue(pools.upkeep, providers.canReach);
  return {
    catalogue,
    providers,
    upstreams,
    readUpstreams: () => upstreams.report(catalogue),
    testCall: testCallWith(providers),
  };
}

/** This is longer than an answer of one token takes, also from a server that first loads the model. */
const TEST_MS_MAX = 30_000;

function testCallWith(providers: Served['providers']): Served['testCall'] {
  return async ({ definition, ...target }) => {
    if (!providers.canReach(definition)) return undefined;
    const provider = providers.clientOf(definition, 0);
    return testCall({ definition, provider, timeoutMs: TEST_MS_MAX, ...target }, steadyClock);
  };
}

/** Opens the clients of providers, with their keys. */
function openProviders(config: Config, simulatorUrl: string | undefined) {
  showErrorTexts(config.showsErrorTexts);
  const { providerKeys, readEnvironment, outboundEnvironment } = config;
  const keys = createProviderKeys({ providerKeys, readEnvironment, outboundEnvironment, clock: steadyClock });
  return createProviderRegistry({ simulatorUrl, keys, environment: outboundEnvironment });
}
