import type { CatalogueFile, CatalogueModel } from '@purser/contract/catalogue.ts';
import { CatalogueFileError, editCatalogue, readCatalogue } from '#catalogue/catalogue-file.ts';
import { changedFacts, type Facts } from '#audit/entry.ts';
import type { Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';

/**
 * The catalogue, as operators change it. A change takes effect at once on this process and within a second on the others.
 * Running calls keep the catalogue that they began with (MO-05). Every change is checked as if the whole catalogue were
 * read from a file, and refused if the result is not valid.
 */
export interface CatalogueDesk {
  readonly read: () => Promise<{ readonly file: CatalogueFile; readonly version: bigint }>;
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

/** The environment variables that an operator may name as a provider's key. */
const KEY_NAME = /_API_KEY$/;

interface DeskOptions {
  readonly pool: Pool;
  readonly refresh: () => Promise<void>;
}

export function createCatalogueDesk({ pool, refresh }: DeskOptions): CatalogueDesk {
  const edit = createEdit({ pool, refresh });
  return {
    read: () => readCatalogue(pool),
    replace: (act, file, version) =>
      edit({ ...act, action: 'catalogue.replace', subject: 'catalogue' }, (current, is) =>
        version === undefined || version === is ? (strangeKeyIn(file, current) ?? file) : outdated(),
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
function createEdit({ pool, refresh }: DeskOptions) {
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
 * Refuses a provider whose key is not named like a provider's key. The editor of a provider chooses where its key is sent.
 * So a session of an operator must not be able to name any secret in the host's environment, only variables that end in
 * `_API_KEY`. A provider may keep another name if it already has it, with the same address: that came from the file at
 * start, whose author controls the environment anyway.
 */
function strangeKeyIn(file: CatalogueFile, current: CatalogueFile): Refusal<'BAD_REQUEST'> | undefined {
  const strange = Object.entries(file.providers).find(([name, provider]) => {
    if (provider.kind !== 'openai-compatible' || KEY_NAME.test(provider.apiKeyEnv ?? 'NO_API_KEY')) return false;
    const before = current.providers[name];
    const isKept = before?.kind === provider.kind && before.apiKeyEnv === provider.apiKeyEnv;
    return !isKept || before.baseUrl !== provider.baseUrl;
  });
  if (strange === undefined) return undefined;
  const param = `providers.${strange[0]}.apiKeyEnv`;
  return refuse(
    'BAD_REQUEST',
    `\`${param}\`: must end in \`_API_KEY\`. Only the catalogue file at start can use other names.`,
    {
      param,
    },
  );
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
