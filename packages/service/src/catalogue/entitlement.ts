import type { Model } from '#catalogue/catalogue.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** True when the app may call the model. Reserved models are for the operator's own apps (MO-04). */
export function isEntitled(app: { readonly isFirstParty: boolean }, model: Model): boolean {
  return model.resale === 'open' || app.isFirstParty;
}

/** Makes the refusal of a reserved model. It names what the caller sent and what to do about it (CC-05). */
export function notEntitled(name: string): Refusal<'MODEL_NOT_ENTITLED'> {
  return refuse(
    'MODEL_NOT_ENTITLED',
    `The model \`${name}\` is reserved for other apps. Call a model that \`GET /v1/models\` lists, ` +
      `or ask the operator of this service for access.`,
    { param: 'model' },
  );
}
