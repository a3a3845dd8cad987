import { Html, html } from '#kernel/text/html.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const SCHEMAS = '#/components/schemas/';
const COMMAS = /\B(?=(\d{3})+(?!\d))/g;

/** A text of ours, with the parts between backticks as code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

/** What a value must be: the fields of an object, or a description of anything else. */
export function schemaView(schema: JsonObject): Html {
  return fieldsView(schema) ?? html`<span class="type">${typeOf(schema)}</span>`;
}

interface FieldView {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly description: unknown;
}

/** A field or parameter, as an item of a list. */
export function fieldView({ name, schema, isRequired, description }: FieldView): Html {
  const told = typeof description === 'string' ? html`<p>${prose(description)}</p>` : undefined;
  const basis = 'default' in schema ? html` Default <code>${JSON.stringify(schema['default'])}</code>.` : undefined;
  return html`<li><code class="name">${name}</code> ${isRequired ? html`<b>required</b> ` : ''}<span class="type">${typeOf({ ...schema, description })}.${basis}</span>${told}${fieldsView(schema)}</li>
`;
}

function fieldsView(schema: JsonObject): Html | undefined {
  const parts = objectsIn(schema);
  if (parts.length === 0) return undefined;
  const views = parts.map(({ title, ...object }, index) => {
    const name = typeof title === 'string' ? title : 'or';
    const head = parts.length > 1 && (index > 0 || name !== 'or') ? html`<p class="title">${name}</p>` : undefined;
    return html`${head}<ul class="fields">${propertiesOf(object)}</ul>`;
  });
  return html`${views}`;
}

function propertiesOf({ properties, required }: JsonObject): readonly Html[] {
  const names = Array.isArray(required) ? required : [];
  return Object.entries(isJsonObject(properties) ? properties : {})
    .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
    .map(([name, schema]) =>
      fieldView({ name, schema, isRequired: names.includes(name), description: schema['description'] }),
    );
}

/** The objects whose fields are shown in place of a schema. An object with a name is left out: it has an entry of its own. */
function objectsIn(schema: JsonObject): readonly JsonObject[] {
  const { properties, items, additionalProperties } = schema;
  if (isJsonObject(properties) && Object.keys(properties).length > 0) return [schema];
  const inner = [items, additionalProperties, ...choicesOf(schema)].filter(isJsonObject);
  return inner.flatMap(objectsIn);
}

function choicesOf({ anyOf, oneOf }: JsonObject): readonly JsonObject[] {
  return [anyOf, oneOf].flatMap((choices): unknown[] => (Array.isArray(choices) ? choices : [])).filter(isJsonObject);
}

function typeOf(schema: JsonObject): Html {
  const { $ref, type, items, additionalProperties } = schema;
  if (typeof $ref === 'string') return linkTo($ref.slice(SCHEMAS.length));
  const choices = choicesOf(schema);
  if (choices.length > 0) return joined(different(choices.map(typeOf)), ' or ');
  if (Array.isArray(schema['enum'])) return joined(schema['enum'].map(literal), ' or ');
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(type))
    return joined(
      type.map((one) => typeOf({ ...schema, type: one as unknown })),
      ' or ',
    );
  switch (type) {
    case 'array':
      return html`list${countOf(schema, 'minItems', 'maxItems', '')}: ${typeOf(isJsonObject(items) ? items : {})}`;
    case 'object':
      if (!isJsonObject(additionalProperties) || schema['properties'] !== undefined) return html`object`;
      if (Object.keys(additionalProperties).length === 0) return html`object`;
      return html`names, each with: ${typeOf(additionalProperties)}`;
    case 'string':
      return html`${stringOf(schema)}`;
    case 'integer':
    case 'number':
      return html`${type === 'integer' ? 'whole number' : 'number'}${countOf(schema, 'minimum', 'maximum', '')}`;
    default:
      return html`${typeof type === 'string' ? type : 'any value'}`;
  }
}

function linkTo(name: string): Html {
  return html`<a href="#schema-${name}">${name}</a>`;
}

function literal(value: unknown): Html {
  return html`<code>${JSON.stringify(value)}</code>`;
}

function stringOf(schema: JsonObject): Html {
  const { format, pattern } = schema;
  const kind = typeof format === 'string' ? (FORMATS[format] ?? format) : 'text';
  // A description says it better than a pattern.
  const isTold = typeof schema['description'] === 'string';
  const form = typeof pattern === 'string' && !isTold ? html` like <code>${pattern}</code>` : undefined;
  return html`${kind}${countOf(schema, 'minLength', 'maxLength', ' characters')}${form}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'time',
  date: 'day',
  email: 'e-mail address',
  uri: 'address',
};

function countOf(schema: JsonObject, least: string, most: string, unit: string): string {
  const { [least]: from, [most]: to } = schema;
  if (from === 1 && to === undefined) return ', not empty';
  if (typeof from === 'number' && typeof to === 'number') return `, ${figure(from)} to ${figure(to)}${unit}`;
  if (typeof to === 'number') return `, at most ${figure(to)}${unit}`;
  return typeof from === 'number' ? `, at least ${figure(from)}${unit}` : '';
}

function figure(value: number): string {
  return String(value).replaceAll(COMMAS, ',');
}

/**
 * Keeps different parts only. Several objects would read “object or object”: once is enough, because their fields
 * follow.
 */
function different(parts: readonly Html[]): readonly Html[] {
  return [...new Map(parts.map((part) => [part.text, part])).values()];
}

function joined(parts: readonly Html[], between: string): Html {
  return new Html(parts.map(({ text }) => text).join(between));
}
