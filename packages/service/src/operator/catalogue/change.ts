import { type CatalogueFile, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** One change of the catalogue. An entry may be any JSON: it is checked with the whole catalogue. Undefined if it is removed. */
export type CatalogueChange =
  | { readonly kind: 'catalogue'; readonly file: object }
  | { readonly kind: 'model'; readonly name: string; readonly entry: object | undefined }
  | { readonly kind: 'provider'; readonly name: string; readonly entry: object | undefined }
  | { readonly kind: 'alias'; readonly name: string; readonly entry: string | undefined };

type ChangeRefusal = Refusal<'BAD_REQUEST' | 'NOT_FOUND' | 'CONFLICT'>;

const ACTIONS = {
  model: { put: 'model.put', remove: 'model.delete' },
  provider: { put: 'provider.put', remove: 'provider.delete' },
  alias: { put: 'alias.put', remove: 'alias.delete' },
} as const;

/** How the audit trail names a change. */
export function namesOf(change: CatalogueChange): { readonly action: string; readonly subject: string } {
  if (change.kind === 'catalogue') return { action: 'catalogue.replace', subject: 'catalogue' };
  const { put, remove } = ACTIONS[change.kind];
  return { action: change.entry === undefined ? remove : put, subject: change.name };
}

/** The catalogue with a change, not yet checked. */
export function withChange(current: CatalogueFile, change: CatalogueChange): object | ChangeRefusal {
  switch (change.kind) {
    case 'catalogue':
      return change.file;
    case 'model':
      return change.entry === undefined
        ? withoutModel(current, change.name)
        : { ...current, models: [...without(current, change.name), { ...change.entry, id: change.name }] };
    case 'provider':
      return change.entry === undefined
        ? withoutProvider(current, change.name)
        : { ...current, providers: { ...current.providers, [change.name]: change.entry } };
    case 'alias':
      return change.entry === undefined
        ? withoutAlias(current, change.name)
        : withAlias(current, change.name, change.entry);
  }
}

/** Names the field at fault as the person sent it. */
export function fieldOf(change: CatalogueChange, path: readonly PropertyKey[]): string {
  const [part, , ...field] = path;
  // All other entries were valid before, so the fault is in the new one or in its name.
  if (change.kind === 'model') return part === 'models' ? field.join('.') : 'id';
  if (change.kind === 'alias') return 'alias'; // Its target exists.
  // A fault elsewhere is that of a model which the provider does not fit any more.
  if (change.kind === 'provider' && part === 'providers') return field.join('.') || 'name';
  return path.join('.');
}

function without({ models }: CatalogueFile, id: string): CatalogueFile['models'] {
  return models.filter((model) => model.id !== id);
}

/** Removes a model. Refuses while an alias points at it, because calls through the alias would find nothing. */
function withoutModel(current: CatalogueFile, id: string): object | ChangeRefusal {
  const models = without(current, id);
  if (models.length === current.models.length) return refuse('NOT_FOUND', 'There is no such model.');
  const [alias] = Object.entries(current.aliases).find(([, target]) => target === id) ?? [];
  if (alias === undefined) return { ...current, models };
  return refuse('CONFLICT', `The alias \`${alias}\` points at this model. Re-point or delete it first.`);
}

/** Removes a provider. Refuses while it serves a model. */
function withoutProvider(current: CatalogueFile, name: string): object | ChangeRefusal {
  if (!Object.hasOwn(current.providers, name)) return refuse('NOT_FOUND', 'There is no such provider.');
  const used = current.models.find((model) => upstreamsOf(model).some(({ provider }) => provider === name));
  if (used !== undefined) {
    return refuse('CONFLICT', `The model \`${used.id}\` is served by this provider. Change or delete it first.`);
  }
  const { [name]: _gone, ...providers } = current.providers;
  return { ...current, providers };
}

function withAlias(current: CatalogueFile, alias: string, target: string): object | ChangeRefusal {
  return current.models.some(({ id }) => id === target)
    ? { ...current, aliases: { ...current.aliases, [alias]: target } }
    : refuse('BAD_REQUEST', 'No model has this identifier. An alias must point at one.', { param: 'target' });
}

function withoutAlias(current: CatalogueFile, alias: string): object | ChangeRefusal {
  if (!Object.hasOwn(current.aliases, alias)) return refuse('NOT_FOUND', 'There is no such alias.');
  const { [alias]: _gone, ...aliases } = current.aliases;
  return { ...current, aliases };
}
