import { type CatalogueProvider, reasonsOutOfSight } from '@purser/contract/catalogue.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Probed, ProbeTarget } from '#probe/probe.ts';

/** One upstream of an entry that was probed. */
export interface ProbedUpstream {
  readonly target: ProbeTarget;
  readonly probed: Probed;
  /** The catalogue's name of the provider, and its place in `upstreams` if the entry has them. */
  readonly provider: string;
  readonly place: number | undefined;
}

/** Entries of the catalogue as they should be. Undefined where nothing is to be changed. */
interface Proposal {
  readonly model: JsonObject | undefined;
  readonly providers: Readonly<Record<string, JsonObject>> | undefined;
}

interface Entries {
  /** The entry of the model, as the file has it. */
  readonly model: JsonObject;
  readonly providers: Readonly<Record<string, JsonObject>>;
  readonly parameters: FormatParameters;
}

/** The parameters of a model whose entry has no list, and the word that stands for them in a list. */
export interface FormatParameters {
  readonly word: string;
  readonly names: readonly string[];
}

const TOOL_PARAMETERS = ['tools', 'tool_choice', 'parallel_tool_calls'];
const SCHEMA_PARAMETERS = ['response_format'];
const CHOICE_PARAMETERS = ['n'];

/** Makes of an entry what the probe has found. It changes what was disproved, and leaves what was not clear. */
export function proposalOf(entries: Entries, upstreams: readonly ProbedUpstream[]): Proposal {
  let { model } = entries;
  const providers: Record<string, JsonObject> = {};
  for (const { target, probed, provider, place } of upstreams) {
    model = withParameter(model, { probed, place });
    model = withApis(model, { target, probed, place });
    model = withLimits(model, probed);
    model = withVectors(model, probed);
    model = withoutParameters(model, probed, entries.parameters);
    const options = optionsOf(target.definition, probed);
    if (options !== undefined)
      providers[provider] = { ...entries.providers[provider], ...providers[provider], ...options };
  }
  return {
    model: model === entries.model ? undefined : model,
    providers: Object.keys(providers).length === 0 ? undefined : providers,
  };
}

function withParameter(model: JsonObject, { probed, place }: Pick<ProbedUpstream, 'probed' | 'place'>): JsonObject {
  const { outputLimitParameter, isLimitDisproved } = probed;
  if (!isLimitDisproved || outputLimitParameter === undefined) return model;
  return withField(model, place, { outputLimitParameter });
}

/** Says by which interfaces it can be called, if that is other than the entry says. */
function withApis(
  model: JsonObject,
  { target, probed: { apis }, place }: Pick<ProbedUpstream, 'target' | 'probed' | 'place'>,
): JsonObject {
  const isKnown = apis?.length === target.apis.length && apis.every((api) => target.apis.includes(api));
  return apis === undefined || isKnown ? model : withField(model, place, { apis });
}

/** The entry with a field of the model, or of one of its upstreams. */
function withField(model: JsonObject, place: number | undefined, field: JsonObject): JsonObject {
  if (place === undefined) return { ...model, ...field };
  const upstreams = model['upstreams'] as readonly JsonObject[];
  return { ...model, upstreams: upstreams.with(place, { ...upstreams[place], ...field }) };
}

/** Proposes only smaller limits. Larger ones are for a person to decide, because they enlarge every hold. */
function withLimits(model: JsonObject, { listed }: Probed): JsonObject {
  const limits = { contextTokens: listed?.contextTokens, maxOutputTokens: listed?.outputTokens };
  const smaller = Object.entries(limits).filter(([name, limit]) => limit !== undefined && limit < Number(model[name]));
  return smaller.length === 0 ? model : { ...model, ...Object.fromEntries(smaller) };
}

/** What the entry of a model of embeddings has to say. A vector may not have more numbers than it says. */
function withVectors(model: JsonObject, { vectorNumbers }: Probed): JsonObject {
  if (vectorNumbers === undefined || vectorNumbers <= Number(model['dimensionsMax'] ?? 0)) return model;
  const { price } = model;
  const priced = isJsonObject(price) ? { price: { ...price, outputMicrosPerMillion: 0 } } : {};
  return { ...model, ...priced, maxOutputTokens: 1, dimensionsMax: vectorNumbers };
}

function withoutParameters(model: JsonObject, probed: Probed, format: FormatParameters): JsonObject {
  const gone = [
    ...(probed.isToolTaken ? [] : TOOL_PARAMETERS),
    ...(probed.isSchemaTaken ? [] : SCHEMA_PARAMETERS),
    ...(probed.isEveryChoiceCounted ? [] : CHOICE_PARAMETERS),
  ];
  const listed = spelledOut((model['parameters'] as readonly string[] | undefined) ?? [format.word], format);
  if (!listed.some((name) => gone.includes(name))) return model;
  const changed = { ...model, parameters: listed.filter((name) => !gone.includes(name)) };
  // A list that names `reasoning_effort` says more than no list: without this, the entry's streams would be drained, or the
  // catalogue refused because of its `"onAbandon": "cancel"`.
  const isReasoning = reasonsOutOfSight(model);
  return reasonsOutOfSight(changed) === isReasoning ? changed : { ...changed, reasonsOutOfSight: isReasoning };
}

function spelledOut(list: readonly string[], { word, names }: FormatParameters): readonly string[] {
  if (!list.includes(word)) return list;
  return [...new Set([...names, ...list.filter((name) => name !== word)])];
}

function optionsOf(definition: CatalogueProvider, probed: Probed): JsonObject | undefined {
  if (definition.kind !== 'openai-compatible') return undefined;
  const options = {
    ...(probed.isStreamOptionsTaken ? {} : { streamOptions: false }),
    ...(probed.isDeveloperTaken || definition.developerRole === 'system' ? {} : { developerRole: 'system' }),
  };
  return Object.keys(options).length === 0 ? undefined : options;
}
