import { z } from 'zod';
import type { Response } from '#http/openapi/open-api.ts';
import type { JsonObject } from '#kernel/json.ts';

/** Parts of the document that have a name, as they are found. */
export interface Named {
  readonly schemas: Map<string, JsonObject>;
  readonly responses: Map<string, Response>;
}

const LOCAL = '#/$defs/';
const SHARED = '#/components/schemas/';
/** Their format says it, and the patterns are hard to read. */
const FORMATS_WITHOUT_PATTERN = new Set<unknown>(['date', 'date-time', 'email', 'uri']);

/**
 * The JSON schema of what is sent (`input`: defaults may be left out) or answered (`output`: they are there). Parts that
 * have a name are put among the named ones, and referred to.
 */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output', named: Named): JsonObject {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      delete jsonSchema.id;
      // Every whole number of ours has these: they say nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
        delete jsonSchema.minimum;
        delete jsonSchema.maximum;
      }
      if (FORMATS_WITHOUT_PATTERN.has(jsonSchema.format)) delete jsonSchema.pattern;
    },
  });
  return withSharedParts({ ...(properties?.['it'] as JsonObject), $defs }, named);
}

/** The schema with those of its parts that have a name among the named ones. */
export function withSharedParts({ $defs = {}, ...schema }: JsonObject, named: Named): JsonObject {
  for (const [name, part] of Object.entries($defs as object)) named.schemas.set(name, withSharedNames(part));
  return withSharedNames(schema);
}

function withSharedNames(schema: unknown): JsonObject {
  return JSON.parse(JSON.stringify(schema).replaceAll(`"$ref":"${LOCAL}`, `"$ref":"${SHARED}`)) as JsonObject;
}
