import { isJsonObject, type JsonObject } from '#kernel/json.ts';

/** What is wrong with a value: the path of the fault, and what must be there. */
export interface ValueFault {
  readonly path: string;
  readonly expects: string;
}

/** Which values a parameter takes. */
export interface Values {
  /** The first fault of a value that is found at `path`; undefined: it is taken. Never asked about a `null`. */
  readonly faultOf: (value: unknown, path: string) => ValueFault | undefined;
  /** What says nothing, because it holds anyway: the documented defaults. */
  readonly defaults: readonly unknown[];
}

function values(expects: string, accepts: (value: unknown) => boolean, defaults: readonly unknown[] = []): Values {
  return { faultOf: (value, path) => (accepts(value) ? undefined : { path, expects }), defaults };
}

/** Values whose faults have a place of their own. */
export function structured(faultOf: Values['faultOf'], defaults: readonly unknown[] = []): Values {
  return { faultOf, defaults };
}

export function bool(...defaults: readonly boolean[]): Values {
  return values('true or false', (value) => typeof value === 'boolean', defaults);
}

export function text(lengthMax: number): Values {
  return values(
    `a string of at most ${lengthMax} characters`,
    (value) => typeof value === 'string' && value.length <= lengthMax,
  );
}

/** Whole numbers that every program reads the same: beyond 2^53 some round them. */
export function whole(least: number, most: number, ...defaults: readonly number[]): Values {
  return values(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && isBetween(value, least, most),
    defaults,
  );
}

export function between(least: number, most: number, ...defaults: readonly number[]): Values {
  return values(`a number from ${least} to ${most}`, (value) => isBetween(value, least, most), defaults);
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}

export function oneOf(choices: readonly string[], ...defaults: readonly string[]): Values {
  return values(
    `one of ${choices.map((choice) => `"${choice}"`).join(', ')}`,
    (value) => typeof value === 'string' && choices.includes(value),
    defaults,
  );
}

/** Taken only with a value that changes nothing: any other costs extra or keeps data, and has no price here. */
export function neutral(...choices: readonly unknown[]): Values {
  const shown = choices.map((value) => JSON.stringify(value)).join(' or ');
  return values(`${shown}: anything else has no price here`, (value) => isOneOf(value, choices), choices);
}

/** True when the value is, written as JSON, one of these. */
export function isOneOf(value: unknown, choices: readonly unknown[]): boolean {
  return choices.some((one) => JSON.stringify(one) === JSON.stringify(value));
}

/** The first fault among the items of an array that is found at `path`. */
export function firstFault(
  items: readonly unknown[],
  path: string,
  find: (item: unknown, path: string) => ValueFault | undefined,
): ValueFault | undefined {
  for (const [index, item] of items.entries()) {
    const fault = find(item, `${path}[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const STOPS_MAX = 4;

export const stop = values(
  `a string, or an array of 1 to ${STOPS_MAX} strings`,
  (value) =>
    typeof value === 'string' ||
    (Array.isArray(value) &&
      value.length >= 1 &&
      value.length <= STOPS_MAX &&
      value.every((item) => typeof item === 'string')),
);

const TOKEN_ID = /^\d{1,16}$/;

export const logitBias = values(
  'an object of token ids (whole numbers, as strings) with numbers from -100 to 100',
  (value) =>
    isJsonObject(value) &&
    Object.entries(value).every(([token, bias]) => TOKEN_ID.test(token) && isBetween(bias, -100, 100)),
  [{}],
);

const PAIRS_MAX = 16;
const NAME_CHARACTERS_MAX = 64;
const VALUE_CHARACTERS_MAX = 512;

export const metadata = values(
  `an object of at most ${PAIRS_MAX} strings of at most ${VALUE_CHARACTERS_MAX} characters, ` +
    `under names of at most ${NAME_CHARACTERS_MAX}`,
  (value) =>
    isJsonObject(value) &&
    Object.keys(value).length <= PAIRS_MAX &&
    Object.entries(value).every(
      ([name, item]) =>
        name.length <= NAME_CHARACTERS_MAX && typeof item === 'string' && item.length <= VALUE_CHARACTERS_MAX,
    ),
);

export const streamOptions = structured((value, path) => {
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

export const responseFormat = structured(
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

/** A JSON schema is an object; what is in it is the provider's to judge. */
export function objectFault(holder: JsonObject, field: string, path: string): ValueFault | undefined {
  const value = holder[field];
  const isFine = value === undefined || value === null || isJsonObject(value);
  return isFine ? undefined : { path: `${path}.${field}`, expects: 'an object, a JSON schema' };
}

export function strictFault({ strict }: JsonObject, path: string): ValueFault | undefined {
  const isFine = strict === undefined || strict === null || typeof strict === 'boolean';
  return isFine ? undefined : { path: `${path}.strict`, expects: 'true or false' };
}
