import { isOfEmbeddings } from '@purser/contract/apis.ts';
import type { Caller } from '#developers/keys/directory.ts';
import { type Catalogue, isEntitled, type Model } from '#catalogue/catalogue.ts';
import { ceilingOf } from '#catalogue/price.ts';
import type { Wire } from '#gateway/call/wire.ts';
import { shownOf } from '#gateway/body/parse-body.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
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
