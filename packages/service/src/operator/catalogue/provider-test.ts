import { apisOf } from '@purser/contract/apis.ts';
import { type Api, type CatalogueFile, type CatalogueUpstream, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, originOf } from '@purser/contract/catalogue-providers.ts';
import { defaultOutputLimitParameter } from '@purser/contract/output-limit.ts';
import { chargeOf } from '#catalogue/price.ts';
import { costPriceOf } from '#catalogue/price-effect.ts';
import type { Pool } from '#db/pool/pool.ts';
import { systemClock } from '#kernel/time/clock.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited } from '#operator/acts/act.ts';
import type { CatalogueDesk } from '#operator/catalogue/catalogue.ts';
import { testedWords } from '#operator/catalogue/provider-test-words.ts';
import type { TestedCall } from '#probe/test-call.ts';

/** What the call has shown, and to whom it went. */
export interface ProviderTested extends Omit<TestedCall, 'outcome' | 'faultCode' | 'retryAfterSeconds'> {
  /** With `no-key`, nothing was sent, because the provider's key is not set here or may not be sent to its address. */
  readonly outcome: TestedCall['outcome'] | 'no-key';
  readonly provider: string;
  readonly providerModel: string;
  /** Where the call went. Undefined for the simulator. */
  readonly origin: string | undefined;
  /** What the operator pays for it by the catalogue. Undefined if no usage was reported, or the catalogue has no price. */
  readonly cost: Micros | undefined;
}

/** Makes one call of one token of output at a provider of the catalogue (CP-05). It is the operator's cost and nobody's charge. */
export interface ProviderTest {
  readonly test: (
    act: Act,
    name: string,
    providerModel: string | undefined,
  ) => Promise<ProviderTested | Refusal<'NOT_FOUND' | 'BAD_REQUEST' | 'CONFLICT'>>;
}

export interface TestTarget {
  readonly definition: CatalogueProvider;
  readonly providerModel: string;
  readonly outputLimitParameter: 'max_tokens' | 'max_completion_tokens';
  readonly apis?: readonly Api[] | undefined;
}

interface TestOptions {
  readonly pool: Pool;
  readonly catalogue: Pick<CatalogueDesk, 'read'>;
  /** Makes the call with the clients that calls have: the same keys, bound to the same hosts. Undefined if there is no key. */
  readonly call: (target: TestTarget) => Promise<TestedCall | undefined>;
}

export function createProviderTest({ pool, catalogue, call }: TestOptions): ProviderTest {
  const underWay = new Set<string>();

  async function run(act: Act, name: string, wanted: string | undefined) {
    const { file } = await catalogue.read();
    const definition = Object.hasOwn(file.providers, name) ? file.providers[name] : undefined;
    if (definition === undefined) return refuse('NOT_FOUND', 'There is no such provider.');
    const served = servedBy(file, name);
    const found = served.find(({ upstream }) => wanted === undefined || upstream.providerModel === wanted);
    const providerModel = wanted ?? found?.upstream.providerModel;
    if (providerModel === undefined) {
      return refuse('BAD_REQUEST', 'No model is served by this provider. Name one of its own models.', {
        param: 'providerModel',
      });
    }
    const outputLimitParameter =
      found?.upstream.outputLimitParameter ??
      found?.model.outputLimitParameter ??
      defaultOutputLimitParameter(definition);
    const apis = apisOf(definition, found?.model, found?.upstream);
    const tested = await call({ definition, providerModel, apis, outputLimitParameter });
    const price = found === undefined ? undefined : costPriceOf(found.model, found.upstream, systemClock.nowMs());
    const usage = tested?.usage;
    const cost =
      price === undefined || usage?.prompt === undefined || usage.completion === undefined
        ? undefined
        : chargeOf(price, {
            promptTokens: usage.prompt,
            completionTokens: usage.completion,
            cachedTokens: 0,
            cacheWriteTokens: 0,
            reasoningTokens: 0,
          });
    const result: ProviderTested = {
      ...(tested === undefined ? NO_KEY : withAdvice(tested, definition, providerModel)),
      provider: name,
      providerModel,
      origin: originOf(definition),
      cost,
    };
    const { outcome, status, origin } = result;
    const after = { providerModel, origin: origin ?? null, outcome, status: status ?? null, costMicros: cost ?? null };
    // After the call, and not in one transaction with it: nobody waits for a provider while the database holds a lock.
    return audited(pool, { ...act, action: 'provider.test', subject: name }, async (_tx, note) => {
      note({ after });
      return result;
    });
  }

  return {
    test: async (act, name, providerModel) => {
      if (underWay.has(name)) return refuse('CONFLICT', 'This provider is being tested already. Wait for the result.');
      underWay.add(name);
      try {
        return await run(act, name, providerModel);
      } finally {
        underWay.delete(name);
      }
    },
  };
}

/** The result with words that say what to do. */
function withAdvice(
  { faultCode, retryAfterSeconds, ...tested }: TestedCall,
  definition: CatalogueProvider,
  providerModel: string,
) {
  return { ...tested, words: testedWords({ ...tested, faultCode, retryAfterSeconds, definition, providerModel }) };
}

const NO_KEY = {
  outcome: 'no-key',
  words: 'Its key is not set here, or may not be sent to its address. Nothing was sent.',
  status: undefined,
  firstByteMs: undefined,
  totalMs: 0,
  usage: undefined,
} as const;

interface Served {
  readonly model: CatalogueFile['models'][number];
  readonly upstream: CatalogueUpstream;
}

/** The upstreams at a provider, the enabled models first. */
function servedBy({ models }: CatalogueFile, name: string): readonly Served[] {
  const all = models.flatMap((model) =>
    upstreamsOf(model)
      .filter(({ provider }) => provider === name)
      .map((upstream) => ({ model, upstream })),
  );
  return all.toSorted((left, right) => Number(right.model.enabled) - Number(left.model.enabled));
}
