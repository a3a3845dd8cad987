import { BOOLEAN_OR_NULL, NAME_SCHEMA, OBJECT_OR_NULL } from '#gateway/parameters/values.ts';
import { PARAMETERS } from '#gateway/wires/responses/request/parameters.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const STRING = { type: 'string' };
const STRING_OR_NULL = { type: ['string', 'null'] };
const SAYS_NOTHING = { type: 'null' };

/**
 * The body of `POST /v1/responses` as a JSON schema, made from the table that checks it. Rules about several fields are not in it. An
 * item may have more fields than these: clients send back everything that an answer had.
 */
export function responsesRequestSchema(): JsonObject {
  const parameters = [...PARAMETERS].map(([name, { schema }]) => [name, { anyOf: [schema, SAYS_NOTHING] }]);
  return {
    type: 'object',
    properties: {
      model: { type: 'string', minLength: 1, description: 'An identifier or alias of `GET /v1/models`.' },
      input: { anyOf: [STRING, { type: 'array', minItems: 1, items: { $ref: '#/$defs/InputItem' } }] },
      ...Object.fromEntries(parameters),
      tools: { anyOf: [TOOLS, SAYS_NOTHING] },
      tool_choice: { anyOf: [CHOICE, SAYS_NOTHING] },
    },
    required: ['model', 'input'],
    additionalProperties: false,
    $defs: { InputItem: { anyOf: ITEMS }, InputPart: PART, ResponseTool: TOOL },
  };
}

const TOOLS = { type: 'array', items: { $ref: '#/$defs/ResponseTool' } };
const CONTENT = { anyOf: [STRING, { type: 'array', items: { $ref: '#/$defs/InputPart' } }] };

function item(title: string, properties: JsonObject, ...required: readonly string[]): JsonObject {
  return { type: 'object', title, properties, required };
}

const PART = {
  anyOf: [
    item('Text', { type: { enum: ['input_text', 'output_text'] }, text: STRING }, 'type', 'text'),
    item('Refusal', { type: { const: 'refusal' }, refusal: STRING }, 'type', 'refusal'),
    item(
      'Image',
      {
        type: { const: 'input_image' },
        image_url: {
          type: 'string',
          description: 'An http(s) address, or a data URL of an image.',
        },
        detail: STRING_OR_NULL,
        file_id: SAYS_NOTHING,
      },
      'type',
      'image_url',
    ),
  ],
};

const OF_AGENTS = [
  'apply_patch_call',
  'apply_patch_call_output',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'tool_search_call',
  'web_search_call',
];

const ITEMS = [
  item(
    'Message',
    {
      type: { anyOf: [{ const: 'message' }, SAYS_NOTHING] },
      role: { enum: ['developer', 'system', 'user', 'assistant'] },
      content: CONTENT,
    },
    'role',
    'content',
  ),
  item(
    'Reasoning',
    {
      type: { const: 'reasoning' },
      summary: { type: ['array', 'null'], items: { type: 'object', properties: { text: STRING }, required: ['text'] } },
      encrypted_content: STRING_OR_NULL,
    },
    'type',
  ),
  item(
    'Call',
    {
      type: { enum: ['function_call', 'custom_tool_call'] },
      call_id: STRING,
      name: STRING,
      namespace: STRING_OR_NULL,
      arguments: { description: 'Of a function: a string.' },
      input: { description: 'Of a custom tool: a string.' },
    },
    'type',
    'call_id',
    'name',
  ),
  item(
    'Output of a call',
    { type: { enum: ['function_call_output', 'custom_tool_call_output'] }, call_id: STRING, output: CONTENT },
    'type',
    'call_id',
    'output',
  ),
  item(
    'Reference',
    {
      type: { anyOf: [{ const: 'item_reference' }, SAYS_NOTHING] },
      id: {
        type: 'string',
        description: 'The id that an item had in an answer. No item is stored: the id carries it.',
      },
    },
    'id',
  ),
  item(
    'More tools',
    { type: { enum: ['additional_tools', 'tool_search_output'] }, tools: { anyOf: [TOOLS, SAYS_NOTHING] } },
    'type',
  ),
  item('What agents add', { type: { enum: OF_AGENTS } }, 'type'),
];

const TOOL = {
  anyOf: [
    item(
      'Function',
      { type: { const: 'function' }, name: NAME_SCHEMA, parameters: OBJECT_OR_NULL, strict: BOOLEAN_OR_NULL },
      'type',
      'name',
    ),
    item('Custom tool', { type: { const: 'custom' }, name: NAME_SCHEMA }, 'type', 'name'),
    item('Namespace', { type: { const: 'namespace' }, name: NAME_SCHEMA, tools: TOOLS }, 'type', 'name', 'tools'),
    item(
      'Tool of a vendor',
      {
        type: {
          type: 'string',
          not: { enum: ['function', 'custom', 'namespace'] },
          description:
            'Left out beside other tools; refused where the model must use it. `x-service-left-out` says so.',
        },
      },
      'type',
    ),
  ],
};

const CHOICE = {
  anyOf: [
    { enum: ['none', 'auto', 'required'] },
    item(
      'Tool',
      { type: { enum: ['function', 'custom'] }, name: NAME_SCHEMA, namespace: STRING_OR_NULL },
      'type',
      'name',
    ),
    item(
      'Allowed tools',
      {
        type: { const: 'allowed_tools' },
        mode: { enum: ['auto', 'required'] },
        tools: { type: 'array', items: { type: 'object', properties: { type: STRING }, required: ['type'] } },
      },
      'type',
      'mode',
      'tools',
    ),
    item(
      'Tool of a vendor',
      { type: { type: 'string', not: { enum: ['function', 'custom', 'allowed_tools'] } } },
      'type',
    ),
  ],
};
