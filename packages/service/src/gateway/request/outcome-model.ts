import type { Caller } from '#accounts/key-directory.ts';
import type { Catalogue, Model } from '#catalogue/catalogue.ts';
import { isEntitled } from '#catalogue/entitlement.ts';
import { findOutcome } from '#sandbox/outcomes.ts';

/**
 * The model of the failure simulator that a test key calls by this name: the first that the app may call and that costs
 * something, so that every refusal of money can be had, under the outcome's name. A live key knows no such model.
 */
export function findOutcomeModel(catalogue: Catalogue, { app, mode }: Caller, name: string): Model | undefined {
  if (mode !== 'sandbox' || findOutcome(name) === undefined) return undefined;
  const callable = catalogue.list().filter(({ model }) => isEntitled(app, model));
  const basis = (callable.find(({ model }) => isPriced(model)) ?? callable[0])?.model;
  // Nothing is drained: who leaves a stream ends it, as there is nobody to whom its rest would be owed.
  return basis && { ...basis, id: name, parameters: undefined, onAbandon: 'cancel' };
}

function isPriced({ price }: Model): boolean {
  return price.inputMicrosPerMillion > 0n || price.outputMicrosPerMillion > 0n;
}
