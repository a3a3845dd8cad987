import type { ListedProvider } from '#price-lists/models-dev.ts';
import { PriceListError } from '#price-lists/price-list-error.ts';
import type { PricedUpstream } from '#price-lists/priced-upstreams.ts';

/** Where a model is in models.dev's list. */
interface Match {
  readonly provider: ListedProvider;
  readonly model: string;
}

/** The provider of the list for a kind that speaks to one vendor only. */
const BY_KIND: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  azure: 'azure',
  bedrock: 'amazon-bedrock',
  google: 'google',
  mistral: 'mistral',
  vertex: 'google-vertex',
};
/** Vendors whose address the list does not have, because they have a library of their own there. */
const BY_HOST: Readonly<Record<string, string>> = {
  'api.anthropic.com': 'anthropic',
  'api.cerebras.ai': 'cerebras',
  'api.cohere.ai': 'cohere',
  'api.cohere.com': 'cohere',
  'api.deepinfra.com': 'deepinfra',
  'api.groq.com': 'groq',
  'api.mistral.ai': 'mistral',
  'api.openai.com': 'openai',
  'api.perplexity.ai': 'perplexity',
  'api.together.ai': 'togetherai',
  'api.together.xyz': 'togetherai',
  'api.x.ai': 'xai',
  'generativelanguage.googleapis.com': 'google',
  'openrouter.ai': 'openrouter',
};

/** What a person says about where models are in the list: `provider=provider` or `provider/model=provider/model`. */
export type Aliases = ReadonlyMap<string, string>;

/** Reads `--as` options. Throws `PriceListError` for one that names nothing of the catalogue or of the list. */
export function readAliases(
  options: readonly string[],
  upstreams: readonly PricedUpstream[],
  list: ReadonlyMap<string, ListedProvider>,
): Aliases {
  const aliases = new Map<string, string>();
  for (const option of options) {
    const at = option.lastIndexOf('=');
    const [ours, theirs] = [option.slice(0, Math.max(at, 0)), option.slice(at + 1)];
    const isProvider = upstreams.some(({ provider }) => provider === ours);
    if (!isProvider && !upstreams.some((one) => nameOf(one) === ours)) {
      throw new PriceListError(
        `--as ${option}: before the \`=\`, name a provider of the catalogue, or one of its models as provider/provider model.`,
      );
    }
    const [provider = '', model] = isProvider ? [theirs] : splitOnce(theirs);
    const listed = list.get(provider);
    if (listed === undefined) throw new PriceListError(`--as ${option}: the list has no provider \`${provider}\`.`);
    if (!isProvider && (model === undefined || listed.find(model) === undefined)) {
      throw new PriceListError(`--as ${option}: the list has no model \`${theirs}\`.`);
    }
    aliases.set(ours, theirs);
  }
  return aliases;
}

/** Finds a model in the list, or says in words why it is not there. It never guesses by similar names. */
export function findMatch(
  upstream: PricedUpstream,
  list: ReadonlyMap<string, ListedProvider>,
  aliases: Aliases,
): Match | string {
  const alias = aliases.get(nameOf(upstream));
  const [named, model = upstream.providerModel] =
    alias === undefined ? [aliases.get(upstream.provider)] : splitOnce(alias);
  const found = named === undefined ? providerFor(upstream, list) : named;
  if (found === undefined) {
    return (
      `the list has no provider for \`${upstream.provider}\`${addressWords(upstream)}. ` +
      `If it has one by another name, say --as ${upstream.provider}=<provider of the list>`
    );
  }
  const provider = list.get(found);
  if (provider?.find(model) === undefined) {
    return (
      `the list's provider \`${found}\` has no model \`${model}\`. ` +
      `If it has one by another name, say --as ${nameOf(upstream)}=${found}/<model of the list>`
    );
  }
  return { provider, model };
}

/** The address that calls to an upstream go to, if its kind has one in the catalogue. */
export function addressOf({ definition }: PricedUpstream): string | undefined {
  return 'baseUrl' in definition ? definition.baseUrl : undefined;
}

function addressWords(upstream: PricedUpstream): string {
  const address = addressOf(upstream);
  return address === undefined ? '' : ` (${address})`;
}

function nameOf({ provider, providerModel }: Pick<PricedUpstream, 'provider' | 'providerModel'>): string {
  return `${provider}/${providerModel}`;
}

function providerFor(upstream: PricedUpstream, list: ReadonlyMap<string, ListedProvider>): string | undefined {
  const { kind } = upstream.definition;
  if (kind !== 'openai-compatible') return BY_KIND[kind];
  const url = URL.parse(addressOf(upstream) ?? '');
  if (url === null) return undefined;
  const sameHost = [...list.values()].filter(({ api }) => api !== undefined && URL.parse(api)?.host === url.host);
  const same = sameHost.filter(({ api = '' }) => bare(api) === bare(url.href));
  // One host may sell by the token at one path and by subscription, at prices of 0, at another.
  if (same.length === 1) return same[0]?.id;
  if (Object.hasOwn(BY_HOST, url.host)) return BY_HOST[url.host];
  return sameHost.length === 1 ? sameHost[0]?.id : undefined;
}

function bare(address: string): string {
  return address.replace(/\/+$/, '');
}

function splitOnce(text: string): readonly [string, string | undefined] {
  const at = text.indexOf('/');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
