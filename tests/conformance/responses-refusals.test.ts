import { scenariosOf } from '../support/scenarios.ts';
import { setStage } from '../support/stage.ts';

/** What `POST /v1/responses` refuses: under the caller's name for the field, with what to do, and before a provider is asked. */

const stage = await setStage({
  environment: { CLAUDE_KEY: 'k' },
  catalogue: ({ models: [large], providers, ...rest }) => {
    const few = { ...large, id: 'acme.few-1', parameters: ['tools', 'max_completion_tokens'] };
    const claude = { ...large, id: 'acme.claude-1', provider: 'claude', providerModel: 'claude-opus-4-6' };
    return {
      ...rest,
      providers: {
        ...providers,
        claude: { kind: 'anthropic', baseUrl: 'http://127.0.0.1:1', apiKeyEnv: 'CLAUDE_KEY' },
      },
      models: [{ ...large, imageTokensMax: undefined }, few, claude],
      aliases: { large: 'acme.large-1', few: 'acme.few-1', claude: 'acme.claude-1' },
    };
  },
});
const scenarios = scenariosOf(stage);

type Fields = Readonly<Record<string, unknown>>;

const user = (content: unknown) => [{ role: 'user', content }];
const fn = { type: 'function', name: 'look' };
const image = (fields: Fields) => user([{ type: 'input_image', ...fields }]);

/** What each makes of a good request, the path that its refusal names, and a word of its advice. */
const REFUSED: readonly (readonly [fields: Fields, param: string, advice: RegExp])[] = [
  [{ model: '' }, 'model', /GET \/v1\/models/],
  [{ input: undefined }, 'input', /a text, or a non-empty array/],
  [{ input: [] }, 'input', /non-empty/],
  [{ input: 7 }, 'input', /a text, or/],
  [{ input: ['Hi.'] }, 'input[0]', /an object/],
  [{ input: [{}] }, 'input[0].type', /"message"/],
  [{ input: [{ type: 'message', role: 'critic', content: '' }] }, 'input[0].role', /"developer", "system"/],
  [{ input: user(7) }, 'input[0].content', /a string or an array of parts/],
  [{ input: [{ role: 'assistant', content: null }] }, 'input[0].content', /a string or an array of parts/],
  [{ input: user([]) }, 'input[0].content', /at least one part/],
  [{ input: user(['Hi.']) }, 'input[0].content[0]', /`type`/],
  [{ input: user([{ type: 'input_text', text: 1 }]) }, 'input[0].content[0].text', /a string/],
  [{ input: user([{ type: 'text', text: 'a' }]) }, 'input[0].content[0].type', /part of chat completions/],
  [{ input: user([{ type: 'input_file', file_id: 'a' }]) }, 'input[0].content[0].type', /files have no price/],
  [{ input: user([{ type: 'input_audio' }]) }, 'input[0].content[0].type', /sound has no price/],
  [{ input: image({ file_id: 'file_1' }) }, 'input[0].content[0].file_id', /send the image itself/],
  [{ input: image({ image_url: 'ftp://a' }) }, 'input[0].content[0].image_url', /http\(s\) address/],
  [{ input: image({ image_url: 'https://a.test', detail: 1 }) }, 'input[0].content[0].detail', /a string/],
  [{ input: [{ type: 'function_call', name: 'a', arguments: '{}' }] }, 'input[0].call_id', /id of the call/],
  [{ input: [{ type: 'function_call', call_id: 'a', arguments: '{}' }] }, 'input[0].name', /name of the function/],
  [{ input: [{ type: 'function_call', call_id: 'a', name: 'a', arguments: {} }] }, 'input[0].arguments', /a string/],
  [{ input: [{ type: 'custom_tool_call', call_id: 'a', name: 'a' }] }, 'input[0].input', /a string/],
  [{ input: [{ type: 'function_call_output', output: '' }] }, 'input[0].call_id', /id of the tool call/],
  [{ input: [{ type: 'function_call_output', call_id: 'a' }] }, 'input[0].output', /a string or an array/],
  [{ input: [{ type: 'reasoning', summary: 'a' }] }, 'input[0].summary', /as it was in the answer/],
  [{ input: [{ type: 'reasoning', summary: [], content: [1] }] }, 'input[0].content', /as it was in the answer/],
  [{ input: [{ type: 'reasoning', summary: [], encrypted_content: 1 }] }, 'input[0].encrypted_content', /a string/],
  [{ input: [{ type: 'reasoning', summary: [] }] }, 'input', /non-empty/],
  [{ input: [{ type: 'file_search_call', id: 'a' }] }, 'input[0].type', /leave the item out/],
  [{ input: [{ type: 'compaction', encrypted_content: 'a' }] }, 'input[0].type', /leave the item out/],
  [{ input: [{ type: 'additional_tools', tools: [{ type: 'function' }] }] }, 'input[0].tools[0].name', /a name/],
  [{ instructions: ['Be brief.'] }, 'instructions', /a string/],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id', /send the whole conversation in `input`/],
  [{ conversation: 'conv_1' }, 'conversation', /send the whole conversation in `input`/],
  [{ background: true }, 'background', /read a stream/],
  [{ store: true }, 'store', /say `false`, or leave it out/],
  [{ prompt: { id: 'pmpt_1' } }, 'prompt', /`instructions` and `input`/],
  [{ truncation: 'auto' }, 'truncation', /say "disabled"/],
  [{ context_management: [] }, 'context_management', /shorten `input`/],
  [{ moderation: { model: 'm' } }, 'moderation', /call of your own/],
  [{ messages: [] }, 'messages', /takes `input`/],
  [{ max_tokens: 5 }, 'max_tokens', /Use `max_output_tokens`/],
  [{ response_format: {} }, 'response_format', /Use `text.format`/],
  [{ reasoning_effort: 'low' }, 'reasoning_effort', /Use `reasoning.effort`/],
  [{ seed: 1 }, 'seed', /chat\/completions/],
  [{ unheard_of: 1 }, 'unheard_of', /Supported: `model`, `input`/],
  [{ max_output_tokens: 0 }, 'max_output_tokens', /1 to 10000000/],
  [{ temperature: 3 }, 'temperature', /0 to 2/],
  [{ top_logprobs: 21 }, 'top_logprobs', /0 to 20/],
  [{ include: ['everything'] }, 'include[0]', /"reasoning.encrypted_content"/],
  [{ include: 'all' }, 'include', /array/],
  [{ metadata: { a: 1 } }, 'metadata.a', /at most 512 characters/],
  [{ metadata: [] }, 'metadata', /at most 16 texts/],
  [{ service_tier: 'flex' }, 'service_tier', /"auto" or "default"/],
  [{ stream_options: { include_obfuscation: true } }, 'stream_options', /absent without/],
  [{ stream: 'yes' }, 'stream', /true or false/],
  [{ reasoning: 'low' }, 'reasoning', /`effort`/],
  [{ reasoning: { effort: 'enormous' } }, 'reasoning.effort', /one of "none"/],
  [{ reasoning: { summary: 'long' } }, 'reasoning.summary', /"auto", "concise", "detailed"/],
  [{ reasoning: { mode: 'pro' } }, 'reasoning.mode', /no price here/],
  [{ text: { format: { type: 'xml' } } }, 'text.format.type', /"json_schema"/],
  [{ text: { format: { type: 'json_schema' } } }, 'text.format.name', /a name/],
  [{ text: { format: { type: 'json_schema', name: 'a', schema: 1 } } }, 'text.format.schema', /a JSON schema/],
  [{ text: { verbosity: 'loud' } }, 'text.verbosity', /one of "low"/],
  [{ text: { colour: 'red' } }, 'text.colour', /absent/],
  [{ tools: {} }, 'tools', /an array/],
  [{ tools: ['look'] }, 'tools[0]', /an object/],
  [{ tools: [{}] }, 'tools[0].type', /"namespace"/],
  [{ tools: [{ type: 'function', function: { name: 'a' } }] }, 'tools[0].name', /form of chat completions/],
  [{ tools: [{ ...fn, parameters: [] }] }, 'tools[0].parameters', /a JSON schema/],
  [{ tools: [{ ...fn, strict: 1 }] }, 'tools[0].strict', /true or false/],
  [{ tools: [{ type: 'namespace', name: 'n', tools: 1 }] }, 'tools[0].tools', /an array/],
  [
    { tools: [fn, { type: 'namespace', name: 'n', tools: [fn, { ...fn, name: 'b', strict: 1 }] }] },
    'tools[1].tools[1].strict',
    /true/,
  ],
  [{ tools: Array.from({ length: 1_025 }, (_, at) => ({ ...fn, name: `f${at}` })) }, 'tools', /at most 1024/],
  [{ tools: [fn], tool_choice: 'any' }, 'tool_choice', /"required"/],
  [{ tools: [fn], tool_choice: {} }, 'tool_choice.type', /"allowed_tools"/],
  [{ tools: [fn], tool_choice: { type: 'function' } }, 'tool_choice.name', /a name/],
  [{ tools: [fn], tool_choice: { type: 'function', name: 'go' } }, 'tool_choice', /among the `tools`/],
  [{ tools: [fn], tool_choice: { type: 'allowed_tools', mode: 'all', tools: [fn] } }, 'tool_choice.mode', /"auto" or/],
  [{ tools: [fn], tool_choice: { type: 'allowed_tools', mode: 'auto' } }, 'tool_choice.tools', /an array/],
  [{ tools: [fn], tool_choice: { ...fn, namespace: 1 } }, 'tool_choice.namespace', /a string/],
  [{ tools: [{ type: 'web_search' }], tool_choice: { ...fn } }, 'tool_choice', /"none" or "auto"/],
  [{ input: [{ type: 'function_call', namespace: 1 }] }, 'input[0].namespace', /a string/],
  [{ tool_choice: 'required' }, 'tool_choice', /"none" or "auto"/],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', /a search of your own/],
  [{ tools: [{ type: 'web_search_preview_2025_03_11' }] }, 'tools[0].type', /a search of your own/],
  [{ tools: [{ type: 'file_search' }] }, 'tools[0].type', /No files are kept here/],
  [{ tools: [{ type: 'mcp', server_label: 'a' }] }, 'tools[0].type', /call them yourself/],
  [{ tools: [{ type: 'code_interpreter' }] }, 'tools[0].type', /a function of your own/],
  [{ tools: [{ type: 'apply_patch' }] }, 'tools[0].type', /whose vendors speak this interface/],
  [{ tools: [fn], tool_choice: { type: 'shell' } }, 'tool_choice.type', /whose vendors speak this interface/],
  [{ tools: [fn], tool_choice: { type: 'web_search_preview' } }, 'tool_choice.type', /a search of your own/],
  [{ tools: [fn], tool_choice: { type: 'image_generation' } }, 'tool_choice.type', /a function of your own/],
  [
    { tools: [fn], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp' }] } },
    'tool_choice.tools[0].type',
    /call them/,
  ],
];

scenarios(
  { name: 'WI-04 refused with advice', as: 'key', request: 'POST /v1/responses', code: 'BAD_REQUEST', asked: 0 },
  REFUSED.map(([fields, param, advice]) => ({
    body: { model: 'large', input: 'Hello', ...fields },
    param,
    contains: [advice, `\`${param}\` `],
  })),
);

const claude = { model: 'claude' };
const few = { model: 'few' };
const said = [
  { role: 'user', content: 'Hi.' },
  { role: 'developer', content: 'Be brief.' },
];

/** What only the model or its vendor does not take is told in the same words, advice and lists included. */
scenarios({ name: 'WI-04 by model', as: 'key', request: 'POST /v1/responses', code: 'BAD_REQUEST', asked: 0 }, [
  {
    body: { ...few, input: 'Hi.', reasoning: { effort: 'low' } },
    param: 'reasoning.effort',
    contains: ['`reasoning.effort` is not a supported parameter', 'Supported: `model`, `input`', '`max_output_tokens`'],
    lacks: ['messages', 'max_completion_tokens', 'seed'],
  },
  { body: { ...few, input: 'Hi.', top_logprobs: 2 }, param: 'top_logprobs' },
  { body: { ...few, input: 'Hi.', include: ['message.output_text.logprobs'] }, param: 'include' },
  {
    body: { ...claude, input: 'Hi.', text: { format: { type: 'json_object' } } },
    param: 'text.format.type',
    contains: ['does not take `text.format.type`', 'Use "json_schema"'],
  },
  { body: { ...claude, input: said }, param: 'input[1].role', contains: ['later instructions into a user message'] },
  {
    body: {
      ...claude,
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://a.test/a.png' }] }],
    },
    param: 'input',
    contains: ['takes no images'],
  },
  {
    body: { ...claude, input: 'Hi.', temperature: 0.5, reasoning: { effort: 'high' } },
    param: 'temperature',
    contains: ['`reasoning.effort`'],
  },
  {
    body: {
      ...claude,
      input: [
        { role: 'user', content: 'Hi.' },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '7' },
      ],
    },
    param: 'input[1].arguments',
  },
]);
