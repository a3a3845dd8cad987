import { apisOf } from '@purser/contract/apis.ts';
import { type Api, type CatalogueFile, type CatalogueUpstream, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, keyNamesOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { defaultOutputLimitParameter } from '@purser/contract/output-limit.ts';
import { chargeOf } from '#catalogue/price.ts';
import { costPriceOf } from '#catalogue/price-effect.ts';
import type { Pool } from '#db/pool/pool.ts';
import { systemClock } from '#kernel/time/clock.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited } from '#operator/acts/act.ts';
import type { CatalogueDesk } from '#operator/catalogue/catalogue.ts';
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
export type ProviderTest = ReturnType<typeof createProviderTest>;

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

export function createProviderTest({ pool, catalogue, call }: TestOptions) {
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
    test: async (act: Act, name: string, providerModel: string | undefined) => {
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
function withAdvice(call: TestedCall, definition: CatalogueProvider, providerModel: string) {
  const { faultCode, retryAfterSeconds, ...tested } = call;
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

interface Tested extends Pick<TestedCall, 'outcome' | 'words' | 'status' | 'faultCode' | 'retryAfterSeconds'> {
  readonly definition: CatalogueProvider;
  readonly providerModel: string;
}

/** What a test has shown and what to do about it, in words. They have nothing of the provider's text and nothing of a key. */
function testedWords({ definition, providerModel, ...tested }: Tested): string {
  const { outcome, words, status } = tested;
  const host = originOf(definition) ?? 'the simulator';
  const answered = status === undefined ? '' : ` (${status})`;
  if (status === 404) {
    const what = `the model \`${providerModel}\`, or the path of the address`;
    return `The provider does not know ${what}${answered}. Check the name of its model and the address of the provider.`;
  }
  if (outcome === 'unauthorized') return keyWords({ definition, providerModel, ...tested });
  if (outcome === 'throttled') {
    const wait = tested.retryAfterSeconds === undefined ? 'in a minute' : `in ${tested.retryAfterSeconds} s`;
    return `The provider was reached, and limits the calls of your account${answered}. Test it again ${wait}. If this continues, check the limits and the credit of your account there.`;
  }
  if (outcome === 'timeout') {
    return `The provider did not answer in time${answered}. Check its address, and whether a firewall drops connections to ${host}. A server that has to load the model first may answer the next test.`;
  }
  if (outcome === 'outage') {
    return status === undefined
      ? unreachedWords(host, tested.faultCode)
      : `The provider failed${answered}. Test it again later, and see whether the provider reports an outage.`;
  }
  if (outcome === 'refused') {
    return `The provider refused the call${answered}. Check its address: it may lead to another program, or to another path.`;
  }
  if (outcome === 'malformed') {
    return `${host} answered with something that is not a completion. Check the address, its path and the \`kind\` of the provider.`;
  }
  return words;
}

/**
 * Returns words for a key that was refused, or has no right or no money. Some kinds of providers find their keys
 * outside of the catalogue.
 */
function keyWords({ definition, providerModel, words, status }: Tested): string {
  const answered = status === undefined ? '' : ` (${status})`;
  const names = keyNamesOf(definition).map(({ name }) => name);
  const named = names.length > 0 ? names.join(', ') : credentialOf(definition)?.value;
  if (status === 401 && named === undefined) {
    return `The provider requires a key${answered}, and its entry does not name one. Name one there, or check the credentials of this machine.`;
  }
  const key = named === undefined ? 'this machine' : `the key \`${named}\``;
  if (status === 401) {
    return `The provider does not accept ${key}${answered}. Check its value, and that it belongs to ${originOf(definition) ?? 'this provider'}.`;
  }
  return `${words.replace(/\.$/, '')}${answered}. Check with the provider whether ${key} may use the model \`${providerModel}\`, and whether your account has credit.`;
}

const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_NONAME', 'EAI_NODATA']);
const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|ALTNAME|^ERR_TLS|^ERR_SSL|^EPROTO$/;

/** Why no connection came about, by the code of the system or of TLS. */
function unreachedWords(host: string, code: string | undefined): string {
  if (code === undefined)
    return `The connection to ${host} failed or was closed. Check the address, and test it again.`;
  if (UNKNOWN_HOST.has(code))
    return `No host with the name in ${host} was found (${code}). Check the spelling of the address.`;
  if (code === 'EAI_AGAIN') return `The name in ${host} could not be looked up (${code}). Check this machine’s DNS.`;
  if (code === 'ECONNREFUSED')
    return `Nothing is listening at ${host} (${code}). Check the host and port, and that the server is running.`;
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return `${host} cannot be reached from here (${code}). Check the network and the firewall.`;
  }
  if (CERTIFICATE.test(code))
    return `A secure connection to ${host} could not be made (${code}). Check its certificate, and \`http\` or \`https\` in the address.`;
  return `The connection to ${host} failed (${code}). Check the address, and test it again.`;
}
