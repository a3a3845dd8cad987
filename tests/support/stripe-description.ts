import { readFileSync } from 'node:fs';

/** A part of Stripe's OpenAPI description. */
interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly maxLength?: number;
}

interface Description {
  /** The version of Stripe's API that it describes. */
  readonly version: string;
  readonly requests: Readonly<Record<string, Schema>>;
}

/** The requests that this service makes, as Stripe describes them. */
export const STRIPE_DESCRIPTION = JSON.parse(
  readFileSync(new URL('../fixtures/stripe-openapi.json', import.meta.url), 'utf8'),
) as Description;

interface Sent {
  readonly method: string;
  readonly path: string;
  /** The fields as the form has them: `line_items[0][quantity]`. */
  readonly form: Readonly<Record<string, string>>;
}

/** Everything in a request that Stripe's description does not allow. */
export function faultsOf({ method, path, form }: Sent): readonly string[] {
  const name = Object.keys(STRIPE_DESCRIPTION.requests).find((request) => {
    const [verb, template = ''] = request.split(' ');
    return verb === method && new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
  });
  const schema = name === undefined ? undefined : STRIPE_DESCRIPTION.requests[name];
  return schema === undefined ? [`${method} ${path} is not described`] : check(treeOf(form), schema, '');
}

type Tree = string | { [name: string]: Tree };

/** Makes a tree of the fields: `a[b][0]=c` is `{ a: { b: { 0: c } } }`. */
function treeOf(form: Sent['form']): Tree {
  const tree: Tree = {};
  for (const [name, value] of Object.entries(form)) {
    const parts = name.replaceAll(']', '').split('[');
    let at: { [part: string]: Tree } = tree;
    for (const part of parts.slice(0, -1)) at = (at[part] ??= {}) as { [part: string]: Tree };
    at[parts.at(-1) ?? ''] = value;
  }
  return tree;
}

/**
 * Checks a value. It is stricter than the description in one thing: Stripe also refuses unknown fields inside of
 * fields.
 */
function check(value: Tree, schema: Schema, path: string): readonly string[] {
  if (schema.anyOf !== undefined) {
    const each = schema.anyOf.map((one) => check(value, one, path));
    return each.find((faults) => faults.length === 0) ?? each[0] ?? [];
  }
  if (schema.type === undefined) return [`${path} is not in the extract of the description`];
  if (schema.type === 'object' || schema.type === 'array') {
    return typeof value === 'string' ? [`${path} must be an ${schema.type}`] : checkParts(value, schema, path);
  }
  return typeof value === 'string' ? checkText(value, schema, path) : [`${path} must be a ${schema.type}`];
}

function checkParts(value: { readonly [name: string]: Tree }, schema: Schema, path: string): readonly string[] {
  const missing = (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${path}${name} is missing`);
  const faults = Object.entries(value).flatMap(([name, part]) => {
    const of = schema.type === 'array' ? schema.items : (schema.properties?.[name] ?? schema.additionalProperties);
    const at = schema.type === 'array' ? `${path}[]` : `${path === '' ? '' : `${path}.`}${name}`;
    return of === undefined || of === false ? [`${at} is unknown`] : check(part, of, at);
  });
  return [...missing, ...faults];
}

const FORMS = { integer: /^-?\d+$/, boolean: /^(true|false)$/, string: /^/ } as const;

function checkText(value: string, schema: Schema, path: string): readonly string[] {
  const { type = 'string', maxLength = Infinity } = schema;
  if (type === 'object' || type === 'array' || !FORMS[type].test(value)) return [`${path} must be a ${type}`];
  if (value.length > maxLength) return [`${path} is too long`];
  return schema.enum === undefined || schema.enum.includes(value) ? [] : [`${path} must not be ${value}`];
}
