import { BOOLEAN_OR_NULL, NAME_SCHEMA, OBJECT_OR_NULL } from '#gateway/parameters/values.ts';
import { PASSED_OVER } from '#gateway/wires/messages/conversation/content.ts';
import { PARAMETERS } from '#gateway/wires/messages/request/parameters.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const STRING = { type: 'string' };
const STRING_OR_NULL = { type: ['string', 'null'] };
const SAYS_NOTHING = { type: 'null' };

/**
 * The body of `POST /v1/messages` as a JSON schema, made from the table that checks it. Rules about several fields are not in it. A block
 * may have more fields than these, such as those of an answer that clients send back.
 */
export function messagesRequestSchema(): JsonObject {
  return schemaOf(['model', 'max_tokens', 'messages']);
}

/** The same for a prompt that is only counted, in few words: the document has the parameters once. */
export const COUNT_SCHEMA: JsonObject = {
  type: 'object',
  description: 'The body of `POST /v1/messages`. It needs no `max_tokens`.',
  required: ['model', 'messages'],
};

function schemaOf(required: readonly string[]): JsonObject {
  const parameters = [...PARAMETERS].map(([name, { schema }]) => [
    name,
    required.includes(name) ? schema : { anyOf: [schema, SAYS_NOTHING] },
  ]);
  return {
    type: 'object',
    properties: {
      model: { type: 'string', minLength: 1, description: 'An identifier or alias of `GET /v1/models`.' },
      messages: { type: 'array', minItems: 1, items: { $ref: '#/$defs/InputMessage' } },
      ...Object.fromEntries(parameters),
      cache_control: MARK,
      system: { anyOf: [STRING, { type: 'array', items: TEXT }, SAYS_NOTHING] },
      tools: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/MessageTool' } }, SAYS_NOTHING] },
      tool_choice: { anyOf: [CHOICE, SAYS_NOTHING] },
    },
    required,
    additionalProperties: false,
    $defs: { InputMessage: MESSAGE, InputBlock: { anyOf: BLOCKS }, MessageTool: TOOL, CacheMark: CACHE_MARK },
  };
}

function block(title: string, properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: 'object', title, properties, required };
}

const CACHE_MARK = { anyOf: [PARAMETERS.get('cache_control')?.schema ?? {}, SAYS_NOTHING] };
/** The document shows it once. */
const MARK = { $ref: '#/$defs/CacheMark' };
const CONTENT = { anyOf: [STRING, { type: 'array', items: { $ref: '#/$defs/InputBlock' } }] };
const TEXT = block('Text', { type: { const: 'text' }, text: STRING, cache_control: MARK }, 'type', 'text');

const MESSAGE = block(
  'Message',
  { role: { enum: ['user', 'assistant', 'system'] }, content: CONTENT },
  'role',
  'content',
);

const IMAGE_SOURCE = {
  anyOf: [
    block('Base64', { type: { const: 'base64' }, media_type: STRING, data: STRING }, 'type', 'media_type', 'data'),
    block('Address', { type: { const: 'url' }, url: STRING }, 'type', 'url'),
  ],
};
const TEXTS = { type: 'array', items: { type: 'object', properties: { text: STRING }, required: ['text'] } };
const DOCUMENT_SOURCE = {
  anyOf: [
    block('Text', { type: { const: 'text' }, data: STRING }, 'type', 'data'),
    block('Content', { type: { const: 'content' }, content: { anyOf: [STRING, TEXTS] } }, 'type', 'content'),
  ],
};

const BLOCKS = [
  TEXT,
  block('Image', { type: { const: 'image' }, source: IMAGE_SOURCE, cache_control: MARK }, 'type', 'source'),
  block('Document', { type: { const: 'document' }, source: DOCUMENT_SOURCE, cache_control: MARK }, 'type', 'source'),
  block(
    'Found',
    { type: { const: 'search_result' }, content: { type: 'array' }, cache_control: MARK },
    'type',
    'content',
  ),
  block('Found tool', { type: { const: 'tool_reference' }, tool_name: STRING }, 'type', 'tool_name'),
  block(
    'Call of a tool',
    { type: { const: 'tool_use' }, id: STRING, name: STRING, input: { type: 'object' }, cache_control: MARK },
    'type',
    'id',
    'name',
  ),
  block(
    'Result of a tool',
    {
      type: { const: 'tool_result' },
      tool_use_id: STRING,
      content: { anyOf: [CONTENT, SAYS_NOTHING] },
      is_error: { description: 'True if the tool has failed.' },
      cache_control: MARK,
    },
    'type',
    'tool_use_id',
  ),
  block(
    'Thought',
    {
      type: { enum: ['thinking', 'redacted_thinking'] },
      thinking: STRING_OR_NULL,
      signature: STRING_OR_NULL,
      data: STRING_OR_NULL,
    },
    'type',
  ),
  block(
    'Left behind',
    {
      type: { type: 'string', pattern: PASSED_OVER.source, description: 'Of tools that run at a vendor: passed over.' },
    },
    'type',
  ),
];

const TOOL = block(
  'Tool',
  {
    type: { anyOf: [{ const: 'custom' }, SAYS_NOTHING] },
    name: NAME_SCHEMA,
    description: STRING_OR_NULL,
    input_schema: OBJECT_OR_NULL,
    cache_control: MARK,
  },
  'name',
);

const CHOICE = {
  anyOf: [
    block('Choice', { type: { enum: ['auto', 'any', 'none'] }, disable_parallel_tool_use: BOOLEAN_OR_NULL }, 'type'),
    block(
      'Tool',
      { type: { const: 'tool' }, name: NAME_SCHEMA, disable_parallel_tool_use: BOOLEAN_OR_NULL },
      'type',
      'name',
    ),
  ],
};
