import { isRecord } from './fields.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The budget that is left. The whole walk shares one, so that lists within lists cannot multiply it. */
interface Walk {
  readonly root: Schema;
  charactersLeft: number;
  stepsLeft: number;
}

const CHARACTERS_MAX = 2_000; // Length of the instance as JSON, approximately.
const CHARACTERS_PER_NODE = 5; // `null` and a comma: the least that a node costs.
const STEPS_MAX = 100_000; // Schema fields visited: some milliseconds.
const DEPTH_MAX = 32; // Ends schemas that refer to themselves.
const STRING_LENGTH_MAX = 1_000;

const EXAMPLES_BY_FORMAT: Schema = {
  'date-time': '2026-01-01T12:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'guest@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * A small instance of a JSON Schema: required properties only, the first of several choices, the fewest items. It ignores
 * `pattern`, `uniqueItems`, `not`, `if` and references to other documents. It always ends and never throws, because any
 * caller can send any schema; beyond its limits it puts `null`.
 */
export function instanceOf(schema: unknown): unknown {
  const root = isRecord(schema) ? schema : {};
  return build(root, { root, charactersLeft: CHARACTERS_MAX, stepsLeft: STEPS_MAX }, 0);
}

function build(schema: unknown, walk: Walk, depth: number): unknown {
  walk.charactersLeft -= CHARACTERS_PER_NODE;
  const resolved = resolve(schema, walk, depth);
  if (resolved === undefined || walk.charactersLeft <= 0) return null;
  if ('const' in resolved) return spend(walk, resolved['const']);
  const choices = resolved['enum'];
  if (Array.isArray(choices) && choices.length > 0) return spend(walk, choices[0]);

  switch (typeOf(resolved)) {
    case 'object':
      return buildObject(resolved, walk, depth);
    case 'array':
      return buildArray(resolved, walk, depth);
    case 'integer':
    case 'number':
      return spend(walk, pickNumber(resolved));
    case 'boolean':
      return spend(walk, true);
    case 'null':
      return spend(walk, null);
    default:
      return spend(walk, pickString(resolved));
  }
}

/** The value if the budget allows it, otherwise null. */
function spend(walk: Walk, value: unknown): unknown {
  walk.charactersLeft -= JSON.stringify(value).length;
  return walk.charactersLeft < 0 ? null : value;
}

/** Follows the reference, joins the parts and chooses a variant. Undefined beyond the limits. */
function resolve(schema: unknown, walk: Walk, depth: number): Schema | undefined {
  const { $ref, allOf, anyOf, oneOf, ...own } = asRecord(schema);
  const required = Array.isArray(own['required']) ? own['required'].length : 0;
  const reference = typeof $ref === 'string' ? $ref : '';
  walk.stepsLeft -= 1 + Object.keys(own).length + Object.keys(asRecord(own['properties'])).length;
  walk.stepsLeft -= required + reference.length;
  if (walk.stepsLeft < 0 || depth > DEPTH_MAX) return undefined;

  const parts: unknown[] = Array.isArray(allOf) ? [...allOf] : [];
  if (reference !== '') parts.push(lookUp(reference, walk.root));
  const variants = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(variants)) parts.push(pickVariant(variants));

  let joined: Schema = own;
  for (const part of parts) {
    const resolved = resolve(part, walk, depth + 1);
    if (resolved === undefined) return undefined;
    joined = join(joined, resolved);
  }
  return joined;
}

/** The first variant that is not a reference, because a recursive schema refers to itself and would never end. */
function pickVariant(variants: readonly unknown[]): unknown {
  return variants.find((variant) => isRecord(variant) && variant['$ref'] === undefined) ?? variants[0];
}

/** Joins two schemas. Required properties add up; of all other fields the right one wins. */
function join(left: Schema, right: Schema): Schema {
  const required = [left['required'], right['required']].filter((list) => Array.isArray(list)).flat();
  const properties = { ...asRecord(left['properties']), ...asRecord(right['properties']) };
  return { ...left, ...right, ...(required.length > 0 ? { required } : {}), properties };
}

/** Follows a JSON pointer within the schema. A reference that leads nowhere is the schema that allows anything. */
function lookUp(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#')) return {};
  let found: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return {};
    found = (found as Schema)[name];
  }
  return found;
}

/** The type to build: the first of several, or the one that other fields imply. */
function typeOf(schema: Schema): unknown {
  const type = schema['type'];
  if (Array.isArray(type)) return type[0];
  if (type !== undefined) return type;
  if (schema['required'] !== undefined || Object.keys(asRecord(schema['properties'])).length > 0) return 'object';
  return schema['items'] === undefined ? 'string' : 'array';
}

function buildObject(schema: Schema, walk: Walk, depth: number): Schema {
  const properties = asRecord(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const entries: [string, unknown][] = [];
  for (const name of new Set(required)) {
    if (typeof name !== 'string') continue;
    if (spend(walk, name) === null) break;
    entries.push([name, build(Object.hasOwn(properties, name) ? properties[name] : {}, walk, depth + 1)]);
  }
  return Object.fromEntries(entries); // Defines each key, so that even `__proto__` is only a key.
}

/** Makes as many items as the schema demands, and none more. */
function buildArray(schema: Schema, walk: Walk, depth: number): readonly unknown[] {
  const length = numberOr(schema['minItems'], 0);
  const items: unknown[] = [];
  while (items.length < length && walk.charactersLeft > 0 && walk.stepsLeft > 0) {
    items.push(build(schema['items'], walk, depth + 1));
  }
  return items;
}

/** The number 1, or another simple number near the bounds that satisfies them. */
function pickNumber(schema: Schema): number {
  const min = numberOr(schema['minimum'], -Infinity);
  const max = numberOr(schema['maximum'], Infinity);
  const above = numberOr(schema['exclusiveMinimum'], -Infinity);
  const below = numberOr(schema['exclusiveMaximum'], Infinity);
  const step = numberOr(schema['multipleOf'], schema['type'] === 'integer' ? 1 : 0);
  const least = Math.max(min, above);
  const most = Math.min(max, below);
  const fits = (value: number): boolean =>
    value >= min && value <= max && value > above && value < below && (step === 0 || Number.isInteger(value / step));

  const multiples = [Math.ceil(least / step), Math.floor(least / step) + 1, Math.ceil(most / step) - 1];
  const candidates = [1, 0, least, most, least + 1, most - 1, (least + most) / 2];
  return [...candidates, ...multiples.map((multiple) => multiple * step)].find(fits) ?? 1;
}

/** An example of the format, or the word `example` in the length that the schema demands. */
function pickString(schema: Schema): string {
  const format = schema['format'];
  if (typeof format === 'string' && Object.hasOwn(EXAMPLES_BY_FORMAT, format))
    return String(EXAMPLES_BY_FORMAT[format]);
  const least = Math.min(numberOr(schema['minLength'], 0), STRING_LENGTH_MAX);
  return 'example'.padEnd(least, ' example').slice(0, numberOr(schema['maxLength'], STRING_LENGTH_MAX));
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
}

function asRecord(value: unknown): Schema {
  return isRecord(value) ? value : {};
}
