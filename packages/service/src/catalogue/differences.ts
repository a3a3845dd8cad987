import { isDeepStrictEqual } from 'node:util';

/** One field that differs. Undefined if it is not there. */
export interface Difference {
  /** Its way within the entry, such as `price.inputMicrosPerMillion`. */
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Compares two entries field by field, in alphabetical order. An order of members that differs is no difference. */
export function differencesOf(before: unknown, after: unknown): readonly Difference[] {
  const [old, fresh] = [flat(before), flat(after)];
  const fields = [...new Set([...old.keys(), ...fresh.keys()])].toSorted();
  return fields
    .map((field) => ({ field, before: old.get(field), after: fresh.get(field) }))
    .filter((one) => one.before !== one.after);
}

/** An entry of the catalogue that is new, gone or changed. */
export interface ChangedEntry {
  readonly kind: 'provider' | 'model' | 'alias';
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly before: unknown;
  readonly after: unknown;
}

interface Parts {
  readonly providers: Readonly<Record<string, unknown>>;
  readonly models: readonly { readonly id: string }[];
  readonly aliases: Readonly<Record<string, string>>;
}

/** Compares two catalogues entry by entry. */
export function changedEntries(before: Parts, after: Parts): readonly ChangedEntry[] {
  const byId = ({ models }: Parts) => Object.fromEntries(models.map((model) => [model.id, model]));
  return [
    ...changesOf('provider', before.providers, after.providers),
    ...changesOf('model', byId(before), byId(after)),
    ...changesOf('alias', before.aliases, after.aliases),
  ];
}

function changesOf(
  kind: ChangedEntry['kind'],
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly ChangedEntry[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.flatMap((name): readonly ChangedEntry[] => {
    const [old, fresh] = [own(before, name), own(after, name)];
    if (isDeepStrictEqual(old, fresh)) return [];
    const change = old === undefined ? 'added' : fresh === undefined ? 'removed' : 'changed';
    return [{ kind, name, change, before: old, after: fresh }];
  });
}

function own(entries: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** The leaves of a value by their way. */
function flat(value: unknown, way = '', into = new Map<string, string>()): ReadonlyMap<string, string> {
  if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) flat(part, way === '' ? name : `${way}.${name}`, into);
    if (Object.keys(value).length === 0 && way !== '') into.set(way, Array.isArray(value) ? '[]' : '{}');
  } else if (value !== undefined) {
    into.set(way, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return into;
}
