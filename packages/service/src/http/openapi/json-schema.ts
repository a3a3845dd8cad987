import { z } from 'zod';
import type { Response } from '#http/openapi/open-api.ts';
import type { JsonObject } from '#kernel/json.ts';

/** The named parts of the document, collected while it is built. */
export interface Named {
  readonly schemas: Map<string, JsonObject>;
  readonly responses: Map<string, Response>;
}

const LOCAL = '#/$defs/';
const SHARED = '#/components/schemas/';
/** Formats that say enough. Their generated patterns are long and hard to read. */
const FORMATS_WITHOUT_PATTERN = new Set<unknown>(['date', 'date-time', 'email', 'uri']);

/**
 * The JSON schema of a request part (`input`: fields with a default may be missing) or an answer (`output`: they are
 * present). Parts with a name are added to `named` and replaced by references.
 */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', named: Named): JsonObject {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), {
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
  return withSharedParts({ ...(properties?.['it'] as JsonObject), $defs }, named);
}

/** Moves the named parts of a schema into `named` and returns the rest, with references to them. */
export function withSharedParts({ $defs = {}, ...schema }: JsonObject, named: Named): JsonObject {
  for (const [name, part] of Object.entries($defs as object)) named.schemas.set(name, withSharedNames(part));
  return withSharedNames(schema);
}

/** Rewrites references. On the text, because a reference can be at any depth. */
function withSharedNames(schema: unknown): JsonObject {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"$ref":"${LOCAL}`, `"$ref":"${SHARED}`)) as JsonObject;
}
