import { isOfEmbeddings } from '@purser/contract/apis.ts';
import type { Caller } from '#developers/keys/directory.ts';
import { type Catalogue, isEntitled, type Model } from '#catalogue/catalogue.ts';
import { ceilingOf } from '#catalogue/price.ts';
import type { ModelSupport, Wire } from '#gateway/call/wire.ts';
import { shownOf } from '#gateway/body/parse-body.ts';
import { acceptedBy } from '#gateway/parameters/parameters.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { findUnsupported, speaks } from '#providers/capabilities/capabilities.ts';
import { findOutcome } from '#sandbox/answers/outcomes.ts';

/** Whether a model may be called by a wire: one of embeddings by theirs, and any other by the others. */
function isOfWire({ upstreams: [{ apis }] }: Model, wire: Wire['name']): boolean {
  return isOfEmbeddings(apis) === (wire === 'embeddings');
}

/** Refuses a model of embeddings that is asked for text, and any other that is asked for embeddings (WI-11). */
export function checkModelOfWire(model: Model, name: string, wire: Wire['name']): Refusal<'BAD_REQUEST'> | undefined {
  if (isOfWire(model, wire)) return undefined;
  const words =
    wire === 'embeddings'
      ? 'makes no embeddings. Name a model of embeddings'
      : 'makes embeddings and no text. Call it with `POST /v1/embeddings`';
  return refuse('BAD_REQUEST', `The model \`${shownOf(name)}\` ${words}.`, { param: 'model' });
}

/**
 * Finds the model of the failure simulator that a test key calls by this name. Under the outcome's name, it is the first model
 * that the app may call and that costs something, so that every refusal about money can occur. A live key has no such model.
 */
export function findOutcomeModel(
  catalogue: Catalogue,
  { app, mode }: Caller,
  name: string,
  wire: Wire['name'],
): Model | undefined {
  if (mode !== 'sandbox' || findOutcome(name) === undefined) return undefined;
  const callable = catalogue.list().filter(({ model }) => isEntitled(app, model) && isOfWire(model, wire));
  const basis = (callable.find(({ model }) => isPriced(model)) ?? callable[0])?.model;
  // Nothing is drained: there is no provider whose bill would run on after the caller has left.
  return (
    basis && { ...basis, id: name, parameters: undefined, upstreams: [{ ...basis.upstreams[0], onAbandon: 'cancel' }] }
  );
}

function isPriced({ upstreams: [{ price }] }: Model): boolean {
  return ceilingOf(price, 1, 1) > 0n;
}

/** What each model takes. It is asked for each call, and changes only with the catalogue, whose models are new objects then. */
const supportOfModels = new WeakMap<Model, Map<Wire['name'], ModelSupport>>();

/** What a model takes, for a wire that leaves out what it cannot do: the same object for each call of this model by the wire. */
export function supportOf(model: Model, wire: Wire['name']): ModelSupport {
  const known = supportOfModels.get(model);
  const supports = known?.get(wire) ?? foundSupport(model, wire);
  if (known === undefined) supportOfModels.set(model, new Map([[wire, supports]]));
  else known.set(wire, supports);
  return supports;
}

function foundSupport(model: Model, wire: Wire['name']): ModelSupport {
  const { parameters, upstreams, contextTokens, dimensionsMax } = model;
  const accepted = acceptedBy(parameters);
  const ownForm = upstreams.every((upstream) => speaks(upstream, wire));
  const searchesMax = Math.min(...upstreams.map(({ price }) => Number(price.special?.searchesMax ?? 0n)));
  return {
    parameter: (name, value) =>
      accepted.has(name) &&
      (value === undefined ||
        upstreams.some((upstream) => findUnsupported(upstream, { [name]: value }, wire) === undefined)),
    ownForm,
    hasOwnForm: ownForm || upstreams.some((upstream) => speaks(upstream, wire)),
    webSearch: ownForm && searchesMax > 0,
    searchesMax,
    contextTokens,
    dimensionsMax,
  };
}

/** A word and the white space after it are two bytes at least. */
const BYTES_PER_WORD_MIN = 2;
const SPACE = 32; // ASCII's white space is at or below it.

/**
 * Refuses a prompt that cannot fit the model's context, before money is set aside for it: no top-up would help (MO-08). Only one that
 * certainly cannot is refused: its texts have more words than the context has tokens, and no vocabulary joins two words in one token.
 * Everything shorter is left to the provider, which counts exactly.
 */
export function checkContext(
  request: JsonObject,
  { contextTokens }: Pick<Model, 'contextTokens'>,
  bodyBytes: number,
): Refusal<'BAD_REQUEST'> | undefined {
  if (bodyBytes < contextTokens * BYTES_PER_WORD_MIN) return undefined; // Nearly every call: nothing is counted.
  const words = wordsIn(request['messages']);
  if (words <= contextTokens) return undefined;
  return refuse(
    'BAD_REQUEST',
    // The words by which clients of the format know it.
    `This model's maximum context length is ${contextTokens} tokens, and the prompt has ${words} words, each of which is at least one. ` +
      'Send fewer or shorter messages, or use a model with a longer context.',
    { param: 'messages' },
  );
}

/** The words of what messages say: of their `content` if it is text, and of its parts that are. */
function wordsIn(messages: unknown): number {
  let words = 0;
  for (const message of arrayOf(messages)) {
    const content = isJsonObject(message) ? message['content'] : undefined;
    if (typeof content === 'string') words += wordsOf(content);
    for (const part of arrayOf(content)) {
      const text = isJsonObject(part) ? part['text'] : undefined;
      if (typeof text === 'string') words += wordsOf(text);
    }
  }
  return words;
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The runs of characters between white space. Counted without a copy of the text, which may be a megabyte long. */
function wordsOf(text: string): number {
  let words = 0;
  let isSpace = true;
  for (let index = 0; index < text.length; index += 1) {
    const wasSpace = isSpace;
    isSpace = text.charCodeAt(index) <= SPACE;
    if (wasSpace && !isSpace) words += 1;
  }
  return words;
}
