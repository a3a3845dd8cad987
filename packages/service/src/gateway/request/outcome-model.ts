import type { Caller } from '#accounts/key-directory.ts';
import { type Catalogue, isEntitled, type Model } from '#catalogue/catalogue.ts';
import { findOutcome } from '#sandbox/outcomes.ts';

/**
 * Finds the model of the failure simulator that a test key calls by this name. Under the outcome's name, it is the first model
 * that the app may call and that costs something, so that every refusal about money can occur. A live key has no such model.
 */
export function findOutcomeModel(catalogue: Catalogue, { app, mode }: Caller, name: string): Model | undefined {
  if (mode !== 'sandbox' || findOutcome(name) === undefined) return undefined;
  const callable = catalogue.list().filter(({ model }) => isEntitled(app, model));
  const basis = (callable.find(({ model }) => isPriced(model)) ?? callable[0])?.model;
  // Nothing is drained: there is no provider whose bill would run on after the caller has left.
  return basis && { ...basis, id: name, parameters: undefined, onAbandon: 'cancel' };
}

function isPriced({ price }: Model): boolean {
  return price.inputMicrosPerMillion > 0n || price.outputMicrosPerMillion > 0n;
}
