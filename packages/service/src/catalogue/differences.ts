/** One field that differs. Undefined: it is not there. */
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
