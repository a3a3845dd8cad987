import { isDeepStrictEqual } from 'node:util';
import type { CatalogueFile, CatalogueModel } from '@purser/contract/catalogue.ts';
import { type CatalogueProvider, credentialOf, originOf } from '@purser/contract/catalogue-providers.ts';
import { type PastPrice, readPriceHistory } from '#catalogue/price-history.ts';
import { CatalogueFileError, editCatalogue, readCatalogue } from '#catalogue/catalogue-file.ts';
import { changedFacts, type Facts } from '#audit/entry.ts';
import type { Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { systemClock } from '#kernel/clock.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';

/**
 * The catalogue, as operators change it. A change takes effect at once on this process and within a second on the others.
 * Running calls keep the catalogue that they began with (MO-05). Every change is checked as if the whole catalogue were
 * read from a file, and refused if the result is not valid.
 */
export interface CatalogueDesk {
  readonly read: () => Promise<{ readonly file: CatalogueFile; readonly version: bigint }>;
  /** The prices of a model, the newest first: past ones, those in force and those to come. */
  readonly prices: (id: string) => Promise<readonly PastPrice[] | Refusal<'NOT_FOUND'>>;
  /** Replaces the catalogue. Refused if `version` is given and the catalogue has changed since that version. */
  readonly replace: (
    act: Act,
    file: CatalogueFile,
    version: bigint | undefined,
  ) => Promise<CatalogueFile | EditRefusal>;
  /** Adds an entry, or replaces the one with this identifier. */
  readonly putModel: (act: Act, id: string, entry: CatalogueModel) => Promise<CatalogueModel | EditRefusal>;
  readonly deleteModel: (act: Act, id: string) => Promise<undefined | EditRefusal>;
  readonly putAlias: (act: Act, alias: string, target: string) => Promise<undefined | EditRefusal>;
  readonly deleteAlias: (act: Act, alias: string) => Promise<undefined | EditRefusal>;
}

type EditRefusal = Refusal<'BAD_REQUEST' | 'NOT_FOUND' | 'CONFLICT'>;

interface Edit extends Act {
  readonly action: string;
  readonly subject: string;
  /** Names the field at fault as the caller sent it. By default, its path in the whole catalogue. */
  readonly nameOf?: (path: readonly PropertyKey[]) => string;
}

interface DeskOptions {
  readonly pool: Pool;
  readonly refresh: () => Promise<void>;
  readonly keys: KeyRules;
}

/** What the settings say of a provider's keys, which no edit of the catalogue changes (MO-11). */
interface KeyRules {
  /** The first field that names a key which does not exist or may not be sent to this provider. */
  readonly faultOf: (provider: CatalogueProvider) => { readonly field: string; readonly words: string } | undefined;
  /** The settings themselves allow that the secret which the provider names is sent to it. */
  readonly isAllowed: (provider: CatalogueProvider) => boolean;
}

export function createCatalogueDesk({ pool, refresh, keys }: DeskOptions): CatalogueDesk {
  const edit = createEdit({ pool, refresh });
  return {
    read: () => readCatalogue(pool),
    prices: async (id) => {
      const found = await readPriceHistory(pool, id, systemClock.nowMs());
      return found.length === 0 ? refuse('NOT_FOUND', 'No model with this identifier has ever had a price.') : found;
    },
    replace: (act, file, version) =>
      edit({ ...act, action: 'catalogue.replace', subject: 'catalogue' }, (current, is) =>
        version === undefined || version === is ? (strangeKeyIn(file, current, keys) ?? file) : outdated(),
      ),
    putModel: async (act, id, entry) => {
      const named = { ...act, action: 'model.put', subject: id, nameOf: fieldOfEntry };
      const after = await edit(named, (current) => ({
        ...current,
        models: [...current.models.filter((model) => model.id !== id), { ...entry, id }],
      }));
      if (after instanceof Refusal) return after;
      const stored = after.models.find((model) => model.id === id);
      assert(stored !== undefined, 'an entry that was put exists');
      return stored;
    },
    deleteModel: async (act, id) => {
      const after = await edit({ ...act, action: 'model.delete', subject: id }, (current) => withoutModel(current, id));
      return after instanceof Refusal ? after : undefined;
    },
    putAlias: async (act, alias, target) => {
      const named = { ...act, action: 'alias.put', subject: alias, nameOf: theAlias };
      const after = await edit(named, (current) =>
        current.models.some(({ id }) => id === target)
          ? { ...current, aliases: { ...current.aliases, [alias]: target } }
          : refuse('BAD_REQUEST', 'No model has this identifier. An alias must point at one.', { param: 'target' }),
      );
      return after instanceof Refusal ? after : undefined;
    },
    deleteAlias: async (act, alias) => {
      const after = await edit({ ...act, action: 'alias.delete', subject: alias }, (current) => {
        if (!Object.hasOwn(current.aliases, alias)) return refuse('NOT_FOUND', 'There is no such alias.');
        const { [alias]: _gone, ...aliases } = current.aliases;
        return { ...current, aliases };
      });
      return after instanceof Refusal ? after : undefined;
    },
  };
}

/** Changes the catalogue in one audited transaction. An edit that changes nothing leaves no line in the audit trail. */
function createEdit({ pool, refresh }: Omit<DeskOptions, 'keys'>) {
  return async (
    { nameOf = (path) => path.join('.'), ...act }: Edit,
    change: (current: CatalogueFile, version: bigint) => object | EditRefusal,
  ): Promise<CatalogueFile | EditRefusal> => {
    try {
      const done = await audited(pool, act, async (tx, note) => {
        let before: CatalogueFile | undefined;
        const edited = await editCatalogue(tx, (current, version) => {
          before = current;
          return change(current, version);
        });
        if (edited instanceof Refusal) return edited;
        if (before !== undefined) note(changedFacts(partsOf(before), partsOf(edited.file)));
        return edited.isChanged ? edited.file : new Repeated(edited.file);
      });
      await refresh();
      return done;
    } catch (fault) {
      const [first] = fault instanceof CatalogueFileError ? fault.faults : [];
      if (first === undefined) throw fault;
      const param = nameOf(first.path);
      return refuse('BAD_REQUEST', `\`${param}\`: ${first.message}.`, { param });
    }
  };
}

/** The catalogue part by part, so that the trail shows only the parts that an edit has changed. */
function partsOf({ providers, models, aliases, ...rest }: CatalogueFile): Facts {
  return {
    ...rest,
    ...named('provider', Object.entries(providers)),
    ...named(
      'model',
      models.map((model) => [model.id, model]),
    ),
    ...named('alias', Object.entries(aliases)),
  };
}

function named(kind: string, parts: readonly (readonly [string, unknown])[]): Facts {
  return Object.fromEntries(parts.map(([name, part]) => [`${kind} ${name}`, part]));
}

/**
 * Refuses an edit that would send a secret to an address where it is not sent now (MO-11). A session of an operator may be stolen,
 * and must not turn the service's keys into the thief's. The settings on the machine and the catalogue file at start may pair any
 * key with any address: the person who writes them controls the environment anyway.
 */
function strangeKeyIn(file: CatalogueFile, current: CatalogueFile, keys: KeyRules): Refusal<'BAD_REQUEST'> | undefined {
  const paired = new Set(Object.values(current.providers).map(pairOf));
  for (const [name, provider] of Object.entries(file.providers)) {
    // An entry that is there already stands in the way of no other change.
    if (isDeepStrictEqual(provider, current.providers[name])) continue;
    const fault = keys.faultOf(provider) ?? newPairFault(provider, paired, keys);
    if (fault === undefined) continue;
    const param = `providers.${name}.${fault.field}`;
    return refuse('BAD_REQUEST', `\`${param}\`: ${fault.words}.`, { param });
  }
  return undefined;
}

function newPairFault(provider: CatalogueProvider, paired: ReadonlySet<string | undefined>, keys: KeyRules) {
  const credential = credentialOf(provider);
  if (credential === undefined || paired.has(pairOf(provider)) || keys.isAllowed(provider)) return undefined;
  const { field, value } = credential;
  const words =
    `\`${value}\` is not sent to ${originOf(provider)} now. Name a key of the settings file ` +
    '`PURSER_PROVIDER_KEYS` by `apiKey`, or change the catalogue file of the service';
  return { field, words };
}

/** A secret that a provider names itself, and where it goes. */
function pairOf(provider: CatalogueProvider): string | undefined {
  const credential = credentialOf(provider);
  return credential === undefined ? undefined : `${credential.field} ${credential.value} ${originOf(provider)}`;
}

function outdated(): Refusal<'CONFLICT'> {
  return refuse('CONFLICT', 'The catalogue has changed since you read it. Read it again and repeat your change.');
}

/** The field of the new entry. All other entries were valid before, so the fault is in this one or in its identifier. */
function fieldOfEntry([part, , ...field]: readonly PropertyKey[]): string {
  return part === 'models' ? field.join('.') : 'id';
}

/** The field of a new alias. Its target exists, so the fault is in its own name. */
function theAlias(): string {
  return 'alias';
}

/** Removes a model. Refused while an alias points at it, because calls through the alias would find nothing. */
function withoutModel(current: CatalogueFile, id: string): object | EditRefusal {
  const models = current.models.filter((model) => model.id !== id);
  if (models.length === current.models.length) return refuse('NOT_FOUND', 'There is no such model.');
  const [alias] = Object.entries(current.aliases).find(([, target]) => target === id) ?? [];
  if (alias === undefined) return { ...current, models };
  return refuse('CONFLICT', `The alias \`${alias}\` points at this model. Re-point or delete it first.`);
}
