import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import { CatalogueFileError, parseCatalogueFile } from '#catalogue/catalogue-file.ts';
import { deleteDraft, insertDraft, selectDraft } from '#catalogue/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { newDraftId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Act } from '#operator/acts/act.ts';
import type { CatalogueDesk, CataloguePreview, EditRefusal } from '#operator/catalogue/catalogue.ts';
import type { ComparedList, ComparisonFault, ListComparison } from '#price-lists/compare.ts';

/** A catalogue that was sent and is not applied yet, and what it would change. */
export interface CatalogueDraft extends CataloguePreview {
  readonly draftId: string;
  /** What the price lists say, for people. Empty for a whole catalogue. */
  readonly report: string;
}

/** A price list as it was sent. */
type SentList = Pick<ListComparison, 'list' | 'dollar' | 'from' | 'unchecked'>;

/**
 * Catalogues and price lists that operators send as files (MO-10). Each becomes a draft. A person reads what it would change,
 * and applies it by the rules of every other edit. A draft is kept for a day.
 */
export type CatalogueImport = ReturnType<typeof createCatalogueImport>;

/** The lists have no new price that could be taken. */
interface NothingNew {
  readonly report: string;
}

interface ImportOptions {
  readonly pool: Pool;
  readonly catalogue: Pick<CatalogueDesk, 'read' | 'preview' | 'change'>;
  readonly compare: (comparison: ListComparison) => Promise<ComparedList | ComparisonFault>;
}

export function createCatalogueImport({ pool, catalogue, compare }: ImportOptions) {
  async function keep(file: object, baseVersion: bigint | null, report: string): Promise<string> {
    const draftId = newDraftId();
    await insertDraft(pool, { draft_id: draftId, file, base_version: baseVersion, report });
    return draftId;
  }

  async function find(draftId: string) {
    const draft = await selectDraft(pool, draftId);
    return (
      draft ??
      refuse('NOT_FOUND', 'There is no such draft. It was applied, or it is older than a day. Send the file again.')
    );
  }

  return {
    /** Gives the id of the draft. */
    sendFile: async (text: string): Promise<string | EditRefusal> => {
      const file = fileIn(text);
      if (file instanceof Refusal) return file;
      const seen = await catalogue.preview({ kind: 'catalogue', file }, undefined);
      return seen instanceof Refusal ? seen : keep(file, null, '');
    },
    /** Gives the id of the draft, or what the lists say if they have no new price. */
    sendList: async (sent: SentList): Promise<string | EditRefusal | NothingNew> => {
      const { file, version } = await catalogue.read();
      const compared = await compare({ ...sent, catalogue: JSON.stringify(file), nowMs: systemClock.nowMs() });
      if ('fault' in compared) return refuse('BAD_REQUEST', compared.fault);
      if (compared.catalogue === undefined) return { report: compared.report };
      return keep(parseCatalogueFile(compared.catalogue), version, compared.report);
    },
    read: async (draftId: string): Promise<CatalogueDraft | EditRefusal> => {
      const draft = await find(draftId);
      if (draft instanceof Refusal) return draft;
      const { file, base_version: base, report } = draft;
      const seen = await catalogue.preview({ kind: 'catalogue', file }, base ?? undefined);
      return seen instanceof Refusal ? seen : { ...seen, draftId, report };
    },
    /** Applies a draft. `version` is that of the catalogue with which the draft was compared on the page. */
    apply: async (act: Act, draftId: string, version: bigint): Promise<undefined | EditRefusal> => {
      const draft = await find(draftId);
      if (draft instanceof Refusal) return draft;
      const done = await catalogue.change(act, { kind: 'catalogue', file: draft.file }, draft.base_version ?? version);
      if (done instanceof Refusal) return done;
      await deleteDraft(pool, draftId);
      return undefined;
    },
  };
}

function fileIn(text: string): CatalogueFile | Refusal<'BAD_REQUEST'> {
  try {
    return parseCatalogueFile(text);
  } catch (fault) {
    if (fault instanceof CatalogueFileError) return refuse('BAD_REQUEST', fault.message);
    throw fault;
  }
}
