import { IMAGE_URL } from '#gateway/parameters/messages.ts';
import type { Values } from '#gateway/parameters/values.ts';
import { PARAMETERS } from '#gateway/parameters/parameters.ts';
import { VENDOR_PARAMETERS } from '#gateway/parameters/vendor.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const STRING = { type: 'string' };
const STRING_OR_NULL = { type: ['string', 'null'] };
const SAYS_NOTHING = { type: 'null' };

/** The body of a chat completion as a JSON schema, made from the tables that check it. Rules about several fields are not in it. */
export function chatRequestSchema(): JsonObject {
  return {
    type: 'object',
    properties: {
      model: { type: 'string', minLength: 1, description: 'An identifier or alias of `GET /v1/models`.' },
      messages: { type: 'array', minItems: 1, items: { $ref: '#/$defs/ChatMessage' } },
      ...Object.fromEntries([...PARAMETERS].map(([name, values]) => [name, parameterSchema(values)])),
      ...Object.fromEntries([...VENDOR_PARAMETERS].map(([name, values]) => [name, vendorSchema(values)])),
    },
    required: ['model', 'messages'],
    additionalProperties: false,
    $defs: { ChatMessage: MESSAGE_SCHEMA, ContentPart: PART_SCHEMA, ToolCall: TOOL_CALL_SCHEMA },
  };
}

/** A `null` means the same as no field. The schema names a default only if there is exactly one. */
function parameterSchema({ schema, defaults }: Values): JsonObject {
  return { anyOf: [schema, SAYS_NOTHING], ...(defaults.length === 1 ? { default: defaults[0] } : {}) };
}

function vendorSchema(values: Values): JsonObject {
  return {
    ...parameterSchema(values),
    description: 'Of a vendor: only models whose catalogue entry lists it take it.',
  };
}

/** Matches letters of either case, because patterns of JSON schemas have no flag for that. */
function inAnyCase({ source }: RegExp): string {
  return source.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

const CALLED_SCHEMA = {
  type: 'object',
  properties: { name: STRING, arguments: { type: 'string', description: 'Written as JSON.' } },
  required: ['name', 'arguments'],
};

const TOOL_CALL_SCHEMA = {
  type: 'object',
  properties: { id: STRING, type: { const: 'function' }, function: CALLED_SCHEMA },
  required: ['id', 'type', 'function'],
};

const PART_SCHEMA = {
  anyOf: [
    { type: 'object', properties: { type: { const: 'text' }, text: STRING }, required: ['type', 'text'] },
    { type: 'object', properties: { type: { const: 'refusal' }, refusal: STRING }, required: ['type', 'refusal'] },
    {
      type: 'object',
      properties: {
        type: { const: 'image_url' },
        image_url: {
          type: 'object',
          properties: {
            url: {
              type: 'string',
              pattern: inAnyCase(IMAGE_URL),
              description: 'An http(s) address, or a data URL of a PNG, JPEG, WebP or GIF image. None is fetched here.',
            },
            detail: STRING_OR_NULL,
          },
          required: ['url'],
        },
      },
      required: ['type', 'image_url'],
    },
  ],
};

const CONTENT_SCHEMA = { anyOf: [STRING, { type: 'array', minItems: 1, items: { $ref: '#/$defs/ContentPart' } }] };
const CONTENT_OR_NULL = { anyOf: [...CONTENT_SCHEMA.anyOf, SAYS_NOTHING] };
const UNPRICED = { type: 'null', description: 'Sound has no price here.' };

const MESSAGE_SCHEMA = {
  anyOf: [
    {
      type: 'object',
      title: 'System, developer or user message',
      properties: {
        role: { enum: ['developer', 'system', 'user'] },
        content: CONTENT_SCHEMA,
        name: STRING_OR_NULL,
        audio: UNPRICED,
      },
      required: ['role', 'content'],
    },
    {
      type: 'object',
      title: 'Assistant message',
      properties: {
        role: { const: 'assistant' },
        content: CONTENT_OR_NULL,
        name: STRING_OR_NULL,
        refusal: STRING_OR_NULL,
        tool_calls: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/ToolCall' } }, SAYS_NOTHING] },
        function_call: { anyOf: [CALLED_SCHEMA, SAYS_NOTHING], deprecated: true },
        audio: UNPRICED,
      },
      required: ['role'],
    },
    {
      type: 'object',
      title: 'Tool message',
      properties: {
        role: { const: 'tool' },
        tool_call_id: STRING,
        content: CONTENT_SCHEMA,
        name: STRING_OR_NULL,
        audio: UNPRICED,
      },
      required: ['role', 'tool_call_id', 'content'],
    },
    {
      type: 'object',
      title: 'Function message',
      deprecated: true,
      properties: { role: { const: 'function' }, content: CONTENT_OR_NULL, name: STRING_OR_NULL, audio: UNPRICED },
      required: ['role'],
    },
  ],
};
