import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import { changedFacts, type Facts } from '#audit/entry.ts';
import {
  type CatalogueEdit,
  CatalogueFileError,
  editCatalogue,
  editedFile,
  readCatalogue,
} from '#catalogue/catalogue-file.ts';
import type { Pool } from '#db/pool/pool.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited, Repeated } from '#operator/acts/act.ts';
import { type CatalogueChange, fieldOf, namesOf, withChange } from '#operator/catalogue/change.ts';
import { type KeyRules, strangeKeyIn } from '#operator/catalogue/strange-keys.ts';
import { readPriceHistory } from '#catalogue/price-history.ts';
import { systemClock } from '#kernel/time/clock.ts';

/**
 * The catalogue, as operators change it. A change takes effect at once on this process and within a second on the others.
 * Running calls keep the catalogue that they began with (MO-05). Every change is checked as if the whole catalogue were
 * read from a file, and refused if the result is not valid. With a `version`, a change is refused if the catalogue has changed
 * since that version.
 */
export type CatalogueDesk = ReturnType<typeof createCatalogueDesk>;

export function createCatalogueDesk(options: EditOptions) {
  const { pool, keys } = options;
  return {
    read: () => readCatalogue(pool),
    /** The prices of a model, the newest first: past ones, those in force and those to come. */
    prices: async (id: string) => {
      const found = await readPriceHistory(pool, id, systemClock.nowMs());
      return found.length === 0 ? refuse('NOT_FOUND', 'No model with this identifier has ever had a price.') : found;
    },
    /** Why a provider's key may not be sent to it, in words that follow the name of a field. Undefined if it may, or has none. */
    keyFaultOf: (provider: CatalogueProvider) => keys.faultOf(provider)?.words,
    preview: createPreview(options),
    change: createEdit(options),
  };
}

export type EditRefusal = Refusal<'BAD_REQUEST' | 'NOT_FOUND' | 'CONFLICT'>;

/** The version that the operator has read. Undefined if they have read none. */
type Version = bigint | undefined;

/** The result of an edit, and the version of the catalogue that has it. */
interface Edited<Result> {
  readonly result: Result;
  readonly version: bigint;
}

interface EditOptions {
  readonly pool: Pool;
  readonly refresh: () => Promise<void>;
  readonly keys: KeyRules;
}

/** The catalogue before and after a change that was not made. */
export interface CataloguePreview {
  readonly before: CatalogueFile;
  readonly after: CatalogueFile;
  /** The version of `before`. */
  readonly version: bigint;
}

/**
 * Makes a change in one audited transaction. An entry that exists is replaced. A key is sent to no host to which it was not bound
 * (MO-11). A change of an older version is refused, so that of two operators who edit at the same time nobody's work is lost. One
 * that changes nothing leaves no line in the audit trail.
 */
function createEdit({ pool, refresh, keys }: EditOptions) {
  return async (act: Act, change: CatalogueChange, expected: Version): Promise<Edited<CatalogueFile> | EditRefusal> =>
    inFields(change, async () => {
      const done = await audited(pool, { ...act, ...namesOf(change) }, async (tx, note) => {
        let before: CatalogueFile | undefined;
        const steps = stepsOf(change, expected, keys);
        const edited = await editCatalogue(tx, {
          ...steps,
          change: (current, version) => {
            before = current;
            return steps.change(current, version);
          },
        });
        if (edited instanceof Refusal) return edited;
        if (before !== undefined) note(changedFacts(partsOf(before), partsOf(edited.file)));
        const result = { result: edited.file, version: edited.version };
        return edited.isChanged ? result : new Repeated(result);
      });
      await refresh();
      return done;
    });
}

/** Says what a change would do. It is refused like the change itself, and nothing is stored. */
function createPreview({ pool, keys }: EditOptions) {
  return (change: CatalogueChange, expected: Version): Promise<CataloguePreview | EditRefusal> =>
    inFields(change, async () => {
      const current = await readCatalogue(pool);
      const after = editedFile(stepsOf(change, expected, keys), current);
      return after instanceof Refusal ? after : { before: current.file, after, version: current.version };
    });
}

function stepsOf(change: CatalogueChange, expected: Version, keys: KeyRules): CatalogueEdit<EditRefusal> {
  return {
    change: (current, version) =>
      expected === undefined || expected === version ? withChange(current, change) : outdated(),
    refuse: (file, current) => {
      // Changes of every kind are checked: none may send a key to another host (MO-11).
      const strange = strangeKeyIn(file, current, keys);
      return strange && refusedField(fieldOf(change, strange.path), strange.message);
    },
  };
}

function outdated(): Refusal<'CONFLICT'> {
  return refuse('CONFLICT', 'The catalogue has changed since you read it. Read it again and repeat your change.');
}

function refusedField(param: string, message: string): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `\`${param}\`: ${message}.`, { param });
}

/** Turns the first fault of a catalogue into a refusal that names the field as the person sent it. */
async function inFields<Result>(
  change: CatalogueChange,
  run: () => Promise<Result>,
): Promise<Result | Refusal<'BAD_REQUEST'>> {
  try {
    return await run();
  } catch (fault) {
    const [first] = fault instanceof CatalogueFileError ? fault.faults : [];
    if (first === undefined) throw fault;
    return refusedField(fieldOf(change, first.path), first.message);
  }
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
