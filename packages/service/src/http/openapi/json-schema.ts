import { z } from 'zod';
import type { Response } from '#http/openapi/open-api.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** The named parts of the document, collected while it is built. */
export interface Named {
  readonly schemas: Map<string, JsonObject>;
  readonly responses: Map<string, Response>;
}

const LOCAL = '#/$defs/';
const SHARED = '#/components/schemas/';
/** Formats that say enough. Their generated patterns are long and hard to read. */
const FORMATS_WITHOUT_PATTERN = new Set<unknown>(['date', 'date-time', 'email', 'uri']);

/** A translated schema and its named parts. */
interface Translated {
  readonly schema: JsonObject;
  readonly parts: ReadonlyMap<string, JsonObject>;
}

/** A schema does not change. The error's is part of every route, and translating it each time took half of the whole work. */
const translated = { input: new WeakMap<z.ZodType, Translated>(), output: new WeakMap<z.ZodType, Translated>() };

/**
 * The JSON schema of a request part (`input`: fields with a default may be missing) or an answer (`output`: they are
 * present). Parts with a name are added to `named` and replaced by references.
 */
export function jsonSchemaOf(zod: z.ZodType, io: 'input' | 'output', named: Named): JsonObject {
  const known = translated[io].get(zod) ?? translate(zod, io);
  translated[io].set(zod, known);
  return added(known, named);
}

function translate(zod: z.ZodType, io: 'input' | 'output'): Translated {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: zod }), {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      delete jsonSchema.id;
      // Every integer schema has these bounds by default. They tell readers nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
        delete jsonSchema.minimum;
        delete jsonSchema.maximum;
      }
      if (FORMATS_WITHOUT_PATTERN.has(jsonSchema.format)) delete jsonSchema.pattern;
    },
  });
  return takeApart({ ...(properties?.['it'] as JsonObject), $defs });
}

/** Moves the named parts of a schema into `named` and returns the rest, with references to them. */
export function withSharedParts(schema: JsonObject, named: Named): JsonObject {
  return added(takeApart(schema), named);
}

function added({ schema, parts }: Translated, named: Named): JsonObject {
  for (const [name, part] of parts) named.schemas.set(name, part);
  return schema;
}

function takeApart({ $defs = {}, ...schema }: JsonObject): Translated {
  const parts = Object.entries($defs as object).map(([name, part]) => [name, withSharedNames(part)] as const);
  return { schema: withSharedNames(schema), parts: new Map(parts) };
}

/** Rewrites references. On the text, because a reference can be at any depth. */
function withSharedNames(schema: unknown): JsonObject {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"$ref":"${LOCAL}`, `"$ref":"${SHARED}`)) as JsonObject;
}
