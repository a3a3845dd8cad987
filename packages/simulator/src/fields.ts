import { malformed } from './api-error.ts';

interface Range {
  readonly min: number;
  readonly max: number;
}

/**
 * Reads a JSON object field by field. A field that is `null` counts as missing, because many clients send their nulls. Each
 * method throws an `ApiError` that names the field if the value has the wrong type.
 */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;

  /** `path` is the place of `value` in the body. It is empty for the body itself. */
  constructor(value: unknown, path: string) {
    if (!isRecord(value)) throw malformed(path, `${path === '' ? 'The body' : `\`${path}\``} must be a JSON object.`);
    this.#values = value;
    this.#path = path;
  }

  /** The path of a field, as error messages name it. */
  pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  /** The field's value, unchecked. `null` becomes undefined. */
  raw(name: string): unknown {
    return this.#values[name] ?? undefined;
  }

  /** A string, which may be missing or empty. */
  string(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wrong(name, 'a string');
  }

  /** A string that must be present and not empty. */
  text(name: string): string {
    const value = this.string(name);
    if (value === undefined || value === '') throw this.#wrong(name, 'a string that is not empty');
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#wrong(name, 'true or false');
  }

  /** A number within a range, bounds included. */
  number(name: string, { min, max }: Range): number | undefined {
    const value = this.raw(name);
    if (value === undefined || (typeof value === 'number' && value >= min && value <= max)) return value;
    throw this.#wrong(name, `a number from ${min} to ${max}`);
  }

  /** A whole number within a range. Rounded ones, beyond 2^53, are refused. */
  integer(name: string, { min, max }: Range): number | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw this.#wrong(name, `a whole number from ${min} to ${max}`);
  }

  /** A list of `min` to `max` members. */
  list(name: string, { min, max }: Range): readonly unknown[] | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length >= min && value.length <= max) return value;
    throw this.#wrong(name, `a list of ${min} to ${max} members`);
  }

  /** An object, with the path of its fields. */
  object(name: string): Fields | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : new Fields(value, this.pathOf(name));
  }

  #wrong(name: string, wanted: string): Error {
    const path = this.pathOf(name);
    return malformed(path, `\`${path}\` must be ${wanted}.`);
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
