import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const STRING = { type: 'string' };
const BOOLEAN = { type: 'boolean' };
export const BOOLEAN_OR_NULL = { type: ['boolean', 'null'] };
/** A JSON schema. The provider judges its content. */
export const OBJECT_OR_NULL = { type: ['object', 'null'] };

export const TOKENS_MAX = 10_000_000;

/** A fault in a value: its path, and what is accepted there. */
export interface ValueFault {
  readonly path: string;
  readonly expects: string;
}

/** Which values a parameter takes. */
export interface Values {
  /** The first fault of the value at `path`; undefined if it is accepted. Never called for a `null`. */
  readonly faultOf: (value: unknown, path: string) => ValueFault | undefined;
  /** The documented defaults. They say nothing, because they hold anyway. */
  readonly defaults: readonly unknown[];
  /** The same as a JSON schema, for the API document. It accepts a value exactly if that has no fault. */
  readonly schema: JsonObject;
}

function values(
  schema: JsonObject,
  expects: string,
  accepts: (value: unknown) => boolean,
  defaults: readonly unknown[] = [],
): Values {
  return { faultOf: (value, path) => (accepts(value) ? undefined : { path, expects }), defaults, schema };
}

/** Values with parts, whose faults name the part. */
export function structured(schema: JsonObject, faultOf: Values['faultOf'], defaults: readonly unknown[] = []): Values {
  return { faultOf, defaults, schema };
}

export function bool(...defaults: readonly boolean[]): Values {
  return values(BOOLEAN, 'true or false', (value) => typeof value === 'boolean', defaults);
}

export function text(lengthMax: number): Values {
  return values(
    { type: 'string', maxLength: lengthMax },
    `a string of at most ${lengthMax} characters`,
    (value) => typeof value === 'string' && value.length <= lengthMax,
  );
}

/** Takes whole numbers that every program reads alike. Some programs round numbers beyond 2^53. */
export function whole(least: number, most: number, ...defaults: readonly number[]): Values {
  return values(
    { type: 'integer', minimum: least, maximum: most },
    `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && isBetween(value, least, most),
    defaults,
  );
}

export function between(least: number, most: number, ...defaults: readonly number[]): Values {
  return values(
    { type: 'number', minimum: least, maximum: most },
    `a number from ${least} to ${most}`,
    (value) => isBetween(value, least, most),
    defaults,
  );
}

export function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}

export function oneOf(choices: readonly string[], ...defaults: readonly string[]): Values {
  return values(
    { type: 'string', enum: choices },
    `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`,
    (value) => typeof value === 'string' && choices.includes(value),
    defaults,
  );
}

/** A parameter taken only with a value that changes nothing. Other values cost extra or keep data, and have no price here. */
export function neutral(...choices: readonly unknown[]): Values {
  const shown = choices.map((value) => JSON.stringify(value)).join(' or ');
  return values(
    { enum: choices },
    `${shown}: anything else has no price here`,
    (value) => isOneOf(value, choices),
    choices,
  );
}

/** Returns true if the value, written as JSON, is one of these. */
export function isOneOf(value: unknown, choices: readonly unknown[]): boolean {
  return choices.some((one) => JSON.stringify(one) === JSON.stringify(value));
}

/** The first fault in the items of the array at `path`. */
export function firstFault(
  items: readonly unknown[],
  path: string,
  find: (item: unknown, path: string) => ValueFault | undefined,
): ValueFault | undefined {
  // A path is made only when a fault shows it: a conversation may have thousands of messages, and most calls have no fault.
  for (let at = 0; at < items.length; at += 1)
    if (find(items[at], '') !== undefined) return find(items[at], `${path}[${at}]`);
  return undefined;
}

const STOPS_MAX = 4;

export const stop = values(
  { anyOf: [STRING, { type: 'array', items: STRING, maxItems: STOPS_MAX }] },
  `a string, or an array of at most ${STOPS_MAX} strings`,
  (value) =>
    typeof value === 'string' ||
    (Array.isArray(value) && value.length <= STOPS_MAX && value.every((item) => typeof item === 'string')),
);

const TOKEN_ID = /^\d{1,16}$/;

export const logitBias = values(
  {
    type: 'object',
    propertyNames: { pattern: TOKEN_ID.source },
    additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
  },
  'an object of token ids (whole numbers, as strings) with numbers from -100 to 100',
  (value) =>
    isJsonObject(value) &&
    Object.entries(value).every(([token, bias]) => TOKEN_ID.test(token) && isBetween(bias, -100, 100)),
  [{}],
);

/** Takes anything, because nobody is sent it. */
export const anything = values({}, 'anything', () => true);

const STREAM_OPTIONS_SCHEMA = {
  type: 'object',
  properties: { include_usage: BOOLEAN_OR_NULL, include_obfuscation: BOOLEAN_OR_NULL },
  additionalProperties: false,
};

export const streamOptions = structured(STREAM_OPTIONS_SCHEMA, (value, path) => {
  if (!isJsonObject(value)) {
    return { path, expects: 'an object with `include_usage` and `include_obfuscation`, each true or false' };
  }
  for (const [name, option] of Object.entries(value)) {
    if (name !== 'include_usage' && name !== 'include_obfuscation') {
      return { path: `${path}.${name}`, expects: 'absent: the options are `include_usage` and `include_obfuscation`' };
    }
    if (option !== null && typeof option !== 'boolean') return { path: `${path}.${name}`, expects: 'true or false' };
  }
  return undefined;
});

/** A name that the provider gets. */
export const NAME_SCHEMA = { type: 'string', minLength: 1 };

const RESPONSE_FORMAT_SCHEMA = {
  anyOf: [
    { type: 'object', properties: { type: { enum: ['text', 'json_object'] } }, required: ['type'] },
    {
      type: 'object',
      properties: {
        type: { const: 'json_schema' },
        json_schema: {
          type: 'object',
          properties: { name: NAME_SCHEMA, schema: OBJECT_OR_NULL, strict: BOOLEAN_OR_NULL },
          required: ['name'],
        },
      },
      required: ['type', 'json_schema'],
    },
  ],
};

export const responseFormat = structured(
  RESPONSE_FORMAT_SCHEMA,
  (value, path) => {
    const expects = 'an object whose `type` is "text", "json_object" or "json_schema"';
    if (!isJsonObject(value)) return { path, expects };
    switch (value['type']) {
      case 'text':
      case 'json_object':
        return undefined;
      case 'json_schema':
        return schemaFault(value['json_schema'], `${path}.json_schema`);
      default:
        return { path: `${path}.type`, expects: '"text", "json_object" or "json_schema"' };
    }
  },
  [{ type: 'text' }],
);

function schemaFault(schema: unknown, path: string): ValueFault | undefined {
  if (!isJsonObject(schema)) return { path, expects: 'an object with a `name` and a `schema`' };
  return nameFault(schema, path) ?? objectFault(schema, 'schema', path) ?? strictFault(schema, path);
}

export function nameFault(named: JsonObject, path: string): ValueFault | undefined {
  const { name } = named;
  return typeof name === 'string' && name !== '' ? undefined : { path: `${path}.name`, expects: 'a name' };
}

/** A JSON schema must be an object. The provider judges its content. */
export function objectFault(holder: JsonObject, field: string, path: string): ValueFault | undefined {
  const value = holder[field];
  const isFine = value === undefined || value === null || isJsonObject(value);
  return isFine ? undefined : { path: `${path}.${field}`, expects: 'an object, a JSON schema' };
}

export function strictFault({ strict }: JsonObject, path: string): ValueFault | undefined {
  const isFine = strict === undefined || strict === null || typeof strict === 'boolean';
  return isFine ? undefined : { path: `${path}.strict`, expects: 'true or false' };
}
