import type { CatalogueFile } from '@purser/contract/catalogue.ts';
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

export type EditRefusal = Refusal<'BAD_REQUEST' | 'NOT_FOUND' | 'CONFLICT'>;

/** The version that the operator has read. Undefined if they have read none. */
export type Version = bigint | undefined;

/** The result of an edit, and the version of the catalogue that has it. */
export interface Edited<Result> {
  readonly result: Result;
  readonly version: bigint;
}

export interface EditOptions {
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
 * Makes a change in one audited transaction. A change of an older version is refused, so that of two operators who edit at the
 * same time nobody's work is lost. One that changes nothing leaves no line in the audit trail.
 */
export function createEdit({ pool, refresh, keys }: EditOptions) {
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

/** Says what a change would do, by all checks of the change itself. It stores nothing. */
export function createPreview({ pool, keys }: EditOptions) {
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
