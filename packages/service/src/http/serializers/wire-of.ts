import { isDate } from 'node:util/types';
import { z } from 'zod';
import { isoOf } from '#kernel/time/clock.ts';
import { MICROS_MAX } from '#kernel/values/micros.ts';

/**
 * Writes a value as an answer shows it, field by field of the answer's schema. A field has its own name in the value, or the one that our
 * code and rows have for its kind: `createdAt` is `createdAtMs` or `created_at`, `amountMicros` is `amount`, `suspended` is `isSuspended`.
 * What is not known is null, or absent where it may be left out. A value that has no name for a field does not compile.
 */
export function wireOf<Schema extends z.ZodType, Value>(
  schema: Schema,
  value: Value & Complete<Schema, Value>,
): z.output<Schema> {
  return written(schema, value) as z.output<Schema>; // What is sent is parsed by the schema once more.
}

/** What a value must be to be written by a schema: it has each field, under one of its names and of a type that can be written. */
export type Complete<Schema, Value> = [Lacking<Schema, Value>] extends [never]
  ? unknown
  : { readonly lacks: Lacking<Schema, Value> };

type Lacking<Schema, Value, Name = 'value'> = Schema extends z.ZodNullable<infer Inner> | z.ZodOptional<infer Inner>
  ? Lacking<Inner, NonNullable<Value>, Name>
  : Schema extends z.ZodArray<infer Item>
    ? Value extends readonly (infer One)[]
      ? Lacking<Item, One, Name>
      : Name
    : Schema extends z.ZodObject<infer Shape>
      ? LackingFields<Shape, Value, Name>
      : Value extends Writable<Schema>
        ? never
        : Name;

type LackingFields<Shape, Value, Name> = Value extends object
  ? {
      [Field in keyof Shape & string]: Names<Field> & keyof Value extends never
        ? Shape[Field] extends z.ZodOptional
          ? never
          : Field
        : Lacking<Shape[Field], Value[Names<Field> & keyof Value], Field>;
    }[keyof Shape & string]
  : Name;

type Writable<Schema> = Schema extends z.ZodISODateTime
  ? string | number | Date
  : Schema extends z.ZodString
    ? string | bigint
    : Schema extends z.ZodNumber
      ? number | bigint
      : Schema extends z.ZodType
        ? z.input<Schema>
        : unknown;

type Names<Name extends string> =
  | Name
  | `${Name}Ms`
  | `is${Capitalize<Name>}`
  | SnakeCase<Name>
  | `is_${SnakeCase<Name>}`
  | (Name extends `${infer Bare}Micros` ? Bare : never);

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

function written(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodNullable)
    return value === undefined || value === null ? null : written(schema.unwrap(), value);
  if (schema instanceof z.ZodOptional)
    return value === undefined || value === null ? undefined : written(schema.unwrap(), value);
  if (schema instanceof z.ZodArray) return (value as readonly unknown[]).map((one) => written(schema.element, one));
  if (schema instanceof z.ZodObject) return writtenObject(schema, value as Readonly<Record<string, unknown>>);
  if (isDate(value)) return isoOf(value.getTime());
  if (schema instanceof z.ZodISODateTime && typeof value === 'number') return isoOf(value);
  if (typeof value !== 'bigint') return value;
  if (schema instanceof z.ZodString) return String(value);
  return Number(value > MICROS_MAX ? MICROS_MAX : value); // A sum may exceed what JSON has exactly; the ledger keeps it.
}

interface Field {
  readonly name: string;
  readonly part: z.core.$ZodType;
  /** The names that the field may have in a value, the likeliest first. */
  readonly names: readonly string[];
}

/** The fields of a schema, looked at once. */
const FIELDS = new WeakMap<z.ZodObject, readonly Field[]>();

function fieldsOf(schema: z.ZodObject): readonly Field[] {
  const known = FIELDS.get(schema);
  if (known !== undefined) return known;
  const fields = Object.entries(schema.shape).map(([name, part]) => ({ name, part, names: namesOf(name, part) }));
  FIELDS.set(schema, fields);
  return fields;
}

function namesOf(name: string, part: z.core.$ZodType): readonly string[] {
  const inner = part instanceof z.ZodNullable || part instanceof z.ZodOptional ? part.unwrap() : part;
  const moment = inner instanceof z.ZodISODateTime ? [`${name}Ms`] : [];
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const flag = `is${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return [name, ...moment, name.replace(/Micros$/, ''), flag, snake, `is_${snake}`];
}

function writtenObject(
  schema: z.ZodObject,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const fields = fieldsOf(schema).map(({ name, part, names }) => {
    const kept = names.find((one) => Object.hasOwn(value, one));
    return [name, written(part, kept === undefined ? undefined : value[kept])] as const;
  });
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined));
}
