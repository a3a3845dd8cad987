import type { CatalogueFile, CatalogueModel } from '@purser/contract/catalogue.ts';
import { CatalogueFileError, editCatalogue, readCatalogue } from '#catalogue/catalogue-file.ts';
import type { Pool } from '#db/pool.ts';
import { assert } from '#kernel/assert.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts.ts';

/**
 * The catalogue, as operators change it. In force on this process at once and on the others within a second; calls that
 * run keep what they began with (MO-05). Every change is checked as a whole catalogue is: what would be none is refused.
 */
export interface CatalogueDesk {
  readonly read: () => Promise<{ readonly file: CatalogueFile; readonly version: bigint }>;
  /** `version`: the one that the file was made from; refused where the catalogue has changed since. */
  readonly replace: (
    act: Act,
    file: CatalogueFile,
    version: bigint | undefined,
  ) => Promise<CatalogueFile | EditRefusal>;
  /** Adds an entry or replaces the one of that identifier. */
  readonly putModel: (act: Act, id: string, entry: CatalogueModel) => Promise<CatalogueModel | EditRefusal>;
  readonly deleteModel: (act: Act, id: string) => Promise<undefined | EditRefusal>;
  readonly putAlias: (act: Act, alias: string, target: string) => Promise<undefined | EditRefusal>;
  readonly deleteAlias: (act: Act, alias: string) => Promise<undefined | EditRefusal>;
}

type EditRefusal = Refusal<'BAD_REQUEST' | 'NOT_FOUND' | 'CONFLICT'>;

interface Edit extends Act {
  readonly action: string;
  readonly subject: string;
  /** What the caller calls the place of a fault, where that is not the place in the whole catalogue. */
  readonly nameOf?: (path: readonly PropertyKey[]) => string;
}

const KEY_NAME = /_API_KEY$/;

export function createCatalogueDesk({
  pool,
  refresh,
}: {
  readonly pool: Pool;
  readonly refresh: () => Promise<void>;
}): CatalogueDesk {
  async function edit(
    { nameOf = (path) => path.join('.'), ...act }: Edit,
    change: (current: CatalogueFile, version: bigint) => object | EditRefusal,
  ): Promise<CatalogueFile | EditRefusal> {
    try {
      const done = await audited(pool, act, async (tx) => {
        const edited = await editCatalogue(tx, change);
        if (edited instanceof Refusal) return edited;
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
  }

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
      assert(stored !== undefined, 'an entry that was put is there');
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
          : refuse('BAD_REQUEST', 'An alias points at the identifier of a model, and there is none of this one.', {
              param: 'target',
            }),
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

/**
 * Who edits providers chooses where a key is sent, so an operator's session may name keys of providers alone, which their
 * name tells, and nothing else that the host keeps in its environment. A provider that is there already may stay as the
 * file at start has it: who wrote that one sets the environment too.
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
    `\`${param}\`: must end in \`_API_KEY\`; other names can be given by the file at start.`,
    {
      param,
    },
  );
}

function outdated(): Refusal<'CONFLICT'> {
  return refuse('CONFLICT', 'The catalogue has changed since: read it again, and repeat your change.');
}

/** All other entries were right before: what is wrong is in the one that is put, or an alias has its identifier. */
function fieldOfEntry([part, , ...field]: readonly PropertyKey[]): string {
  return part === 'models' ? field.join('.') : 'id';
}

/** Its target is there, so what is wrong is its own name. */
function theAlias(): string {
  return 'alias';
}

function withoutModel(current: CatalogueFile, id: string): object | EditRefusal {
  const models = current.models.filter((model) => model.id !== id);
  if (models.length === current.models.length) return refuse('NOT_FOUND', 'There is no such model.');
  const [alias] = Object.entries(current.aliases).find(([, target]) => target === id) ?? [];
  if (alias === undefined) return { ...current, models };
  return refuse('CONFLICT', `The alias \`${alias}\` points at this model: re-point or delete it first.`);
}
