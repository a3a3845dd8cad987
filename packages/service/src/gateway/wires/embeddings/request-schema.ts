import { PARAMETERS } from '#gateway/wires/embeddings/parameters.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** The body of `POST /v1/embeddings` as a JSON schema, made from the table that checks it. */
export function embeddingsRequestSchema(): JsonObject {
  const parameters = [...PARAMETERS].map(([name, { schema, defaults }]) => [
    name,
    name === 'input'
      ? schema
      : { anyOf: [schema, { type: 'null' }], ...(defaults.length === 1 && { default: defaults[0] }) },
  ]);
  return {
    type: 'object',
    properties: {
      model: { type: 'string', minLength: 1, description: 'An identifier or alias of `GET /v1/models`.' },
      ...Object.fromEntries(parameters),
    },
    required: ['model', 'input'],
    additionalProperties: false,
  };
}
