import type { CatalogueFile, CatalogueModel } from '@purser/contract/catalogue.ts';
import { CatalogueFileError, editCatalogue, readCatalogueFile } from '#catalogue/catalogue-file.ts';
import { inTransaction, type Pool } from '#db/pool.ts';
import { Refusal, refuse } from '#kernel/refusal.ts';
import { type Act, audited } from '#operator/acts.ts';

/**
 * The catalogue, as operators change it. In force on this process at once and on the others within a second; calls that
 * run keep what they began with (MO-05). Every change is checked as a whole catalogue is: what would be none is refused.
 */
export interface CatalogueDesk {
  readonly read: () => Promise<CatalogueFile>;
  readonly replace: (act: Act, file: CatalogueFile) => Promise<CatalogueFile | EditRefusal>;
  /** Adds an entry or replaces the one of that identifier. */
  readonly putModel: (act: Act, id: string, entry: CatalogueModel) => Promise<CatalogueModel | EditRefusal>;
  readonly deleteModel: (act: Act, id: string) => Promise<undefined | EditRefusal>;
  readonly putAlias: (act: Act, alias: string, target: string) => Promise<undefined | EditRefusal>;
  readonly deleteAlias: (act: Act, alias: string) => Promise<undefined | EditRefusal>;
}

type EditRefusal = Refusal<'BAD_REQUEST' | 'NOT_FOUND'>;

export function createCatalogueDesk({
  pool,
  refresh,
}: {
  readonly pool: Pool;
  readonly refresh: () => Promise<void>;
}): CatalogueDesk {
  async function edit(
    act: Act & { readonly action: string; readonly subject: string },
    change: (current: CatalogueFile) => object | Refusal<'NOT_FOUND'>,
  ): Promise<CatalogueFile | EditRefusal> {
    try {
      const done = await audited(pool, act, async (tx) => {
        let refusal: Refusal<'NOT_FOUND'> | undefined;
        const after = await editCatalogue(tx, (current) => {
          const changed = change(current);
          if (!(changed instanceof Refusal)) return changed;
          refusal = changed;
          return current;
        });
        return refusal ?? after;
      });
      await refresh();
      return done;
    } catch (fault) {
      if (fault instanceof CatalogueFileError) return refuse('BAD_REQUEST', fault.message);
      throw fault;
    }
  }

  return {
    read: () => inTransaction(pool, readCatalogueFile),
    replace: (act, file) => edit({ ...act, action: 'catalogue.replace', subject: 'catalogue' }, () => file),
    putModel: async (act, id, entry) => {
      const after = await edit({ ...act, action: 'model.put', subject: id }, (current) => ({
        ...current,
        models: [...current.models.filter((model) => model.id !== id), { ...entry, id }],
      }));
      if (after instanceof Refusal) return after;
      const stored = after.models.find((model) => model.id === id);
      if (stored === undefined) throw new Error(`The entry of ${id} is not there after it was put.`);
      return stored;
    },
    deleteModel: async (act, id) => {
      const after = await edit({ ...act, action: 'model.delete', subject: id }, (current) =>
        current.models.some((model) => model.id === id)
          ? { ...current, models: current.models.filter((model) => model.id !== id) }
          : refuse('NOT_FOUND', 'There is no such model.'),
      );
      return after instanceof Refusal ? after : undefined;
    },
    putAlias: async (act, alias, target) => {
      const after = await edit({ ...act, action: 'alias.put', subject: alias }, (current) => ({
        ...current,
        aliases: { ...current.aliases, [alias]: target },
      }));
      return after instanceof Refusal ? after : undefined;
    },
    deleteAlias: async (act, alias) => {
      const after = await edit({ ...act, action: 'alias.delete', subject: alias }, (current) => {
        const { [alias]: gone, ...aliases } = current.aliases;
        return gone === undefined ? refuse('NOT_FOUND', 'There is no such alias.') : { ...current, aliases };
      });
      return after instanceof Refusal ? after : undefined;
    },
  };
}
