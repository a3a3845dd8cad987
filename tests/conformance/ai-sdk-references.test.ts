import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai';
import { connect } from '../clients/ai-sdk-openai.ts';
import { chargeFor } from '../support/catalogue.ts';
import { callItem, messageItem, reasoningItem, responding, streaming } from '../support/responses-upstream.ts';
import { frame, type RecordedRequest, type UpstreamScript } from '../support/scripted-upstream.ts';
import { setTwoGateways } from '../support/stage.ts';

/**
 * The AI SDK believes that its items are stored. It sends the ids of reasoning and of answers in their place, in the next step of a tool
 * loop and in the next turn of a chat. Each of its calls goes to the other gateway.
 */

const stage = await setTwoGateways({
  catalogue: (basis) => ({
    ...basis,
    providers: { ...basis.providers, native: { ...basis.providers.upstream, apis: ['responses'] } },
    models: [...basis.models, { ...basis.models[0], id: 'acme.native-1', provider: 'native' }],
    aliases: { ...basis.aliases, native: 'acme.native-1' },
  }),
});
const { service, second, upstream, app } = stage;
const FUNDS = 1_000_000;
const TOKENS = { prompt: 20, completion: 7 };

/** What the model does in the three steps of the first turn, and in the second turn. */
const DEEDS = [
  { thought: 'Oslo first.', city: 'Oslo' },
  { thought: 'Then Rome.', city: 'Rome' },
  { thought: 'Both are sunny.', text: 'Sun in both.' },
  { thought: 'They ask again.', text: 'Rain tomorrow.' },
] as const;
type Deed = (typeof DEEDS)[number];

/** The answer of a provider of the Responses wire, with sealed thoughts. */
function natively(deed: Deed, index: number, isStream: boolean): UpstreamScript {
  const said =
    'city' in deed
      ? callItem('forecast', JSON.stringify({ city: deed.city }), `call_${index}`)
      : messageItem(deed.text, { id: `msg_${index}` });
  const usage = {
    input_tokens: TOKENS.prompt,
    output_tokens: TOKENS.completion,
    total_tokens: TOKENS.prompt + TOKENS.completion,
  };
  const output = [reasoningItem([deed.thought], `sealed ${index}`, `rs_${index}`), said];
  return isStream ? streaming(output, { usage }) : responding(output, { usage });
}

/** The answer of a provider of chat completions, with open thoughts. */
function inChat(deed: Deed, index: number, isStream: boolean): UpstreamScript {
  const call = 'city' in deed && {
    id: `call_${index}`,
    type: 'function',
    function: { name: 'forecast', arguments: JSON.stringify({ city: deed.city }) },
  };
  const head = { id: 'chatcmpl-1', created: 1, model: 'large-upstream' };
  const usage = { prompt_tokens: TOKENS.prompt, completion_tokens: TOKENS.completion, total_tokens: 27 };
  const reason = call === false ? 'stop' : 'tool_calls';
  const content = 'text' in deed ? deed.text : null;
  const message = { role: 'assistant', reasoning_content: deed.thought, content };
  if (!isStream) {
    const whole = call === false ? message : { ...message, tool_calls: [call] };
    const choices = [{ index: 0, message: whole, finish_reason: reason }];
    return { body: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) };
  }
  const deltas = [
    { role: 'assistant', reasoning_content: deed.thought },
    call === false ? { content } : { tool_calls: [{ index: 0, ...call }] },
  ];
  const chunkOf = (delta: object, finish: string | null) => {
    return frame({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  };
  const frames = [
    ...deltas.map((delta) => chunkOf(delta, null)),
    chunkOf({}, reason),
    frame({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
    frame('[DONE]'),
  ];
  return { body: frames.map((write) => ({ write })) };
}

/** A fetch that goes to one gateway and the other in turn, and keeps the bodies that the client sends. */
function alternating(sent: string[]): typeof fetch {
  return async (input, init) => {
    assert.ok(typeof input === 'string' && typeof init?.body === 'string');
    const url = input.replace(service.url, sent.length % 2 === 0 ? service.url : second.url);
    sent.push(init.body);
    return fetch(url, init);
  };
}

const tools = {
  forecast: tool({
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    }),
    execute: async ({ city }) => `Sun in ${city}.`,
  }),
};

interface Turn {
  readonly text: string;
  readonly messages: readonly ModelMessage[];
}

async function turnOf(user: string, alias: string, sent: string[], messages: ModelMessage[], isStream: boolean) {
  const address = { baseUrl: `${service.url}/v1`, key: app.liveKey, user };
  const model = connect(address, alternating(sent))(alias);
  const request = { model, tools, messages, stopWhen: isStepCount(5), maxRetries: 0 };
  if (!isStream) {
    const result = await generateText(request);
    return { text: result.text, messages: result.responseMessages } satisfies Turn;
  }
  const faults: unknown[] = [];
  const result = streamText({ ...request, onError: ({ error }) => void faults.push(error) });
  await result.consumeStream();
  assert.deepEqual(faults, []);
  return { text: await result.text, messages: await result.responseMessages } satisfies Turn;
}

/** What the provider was told in the last request, in a word for each message or item. */
function told({ body }: RecordedRequest): readonly string[] {
  const { messages, input } = body as Readonly<Record<'messages' | 'input', readonly Item[] | undefined>>;
  return (messages ?? input ?? []).map((item) => {
    const texts = typeof item.content === 'string' ? item.content : item.content?.map(({ text }) => text).join('');
    const calls = item.tool_calls?.map((call) => call.function.arguments).join('') ?? item.arguments;
    const thought = item.encrypted_content ?? item.reasoning_content;
    return [item.role ?? item.type, thought, texts, calls, item.output].filter(Boolean).join(': ');
  });
}

interface Item {
  readonly role?: string;
  readonly type?: string;
  readonly content?: string | readonly { readonly text: string }[] | null;
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
  readonly arguments?: string;
  readonly output?: string;
  readonly encrypted_content?: string;
  readonly reasoning_content?: string;
}

const IN_CHAT = [
  'user: Where is the sun?',
  'assistant: Oslo first.: {"city":"Oslo"}',
  'tool: Sun in Oslo.',
  'assistant: Then Rome.: {"city":"Rome"}',
  'tool: Sun in Rome.',
  'assistant: Sun in both.',
  'user: And tomorrow?',
];
const NATIVELY = [
  'user: Where is the sun?',
  'reasoning: sealed 0',
  'function_call: {"city":"Oslo"}',
  'function_call_output: Sun in Oslo.',
  'reasoning: sealed 1',
  'function_call: {"city":"Rome"}',
  'function_call_output: Sun in Rome.',
  'reasoning: sealed 2',
  'assistant: Sun in both.',
  'user: And tomorrow?',
];

describe('the AI SDK refers to items that nobody has stored', () => {
  const upstreams = [
    { alias: 'large', speaks: 'chat completions', answer: inChat, expected: IN_CHAT },
    { alias: 'native', speaks: 'Responses', answer: natively, expected: NATIVELY },
  ] as const;
  for (const { alias, speaks, answer, expected } of upstreams) {
    for (const isStream of [false, true]) {
      test(`WI-05 a loop and a second turn ${isStream ? 'streamed ' : ''}over two gateways, ${speaks} behind`, async () => {
        const user = await stage.newUser(FUNDS);
        const before = upstream.requests.length;
        upstream.script((_, index) => answer(DEEDS[index - before] ?? DEEDS[0], index - before, isStream));
        const sent: string[] = [];
        const question: ModelMessage = { role: 'user', content: 'Where is the sun?' };
        const first = await turnOf(user, alias, sent, [question], isStream);
        assert.equal(first.text, 'Sun in both.');
        const messages: ModelMessage[] = [question, ...first.messages, { role: 'user', content: 'And tomorrow?' }];
        const next = await turnOf(user, alias, sent, messages, isStream);
        assert.equal(next.text, 'Rain tomorrow.');
        assert.equal(sent.filter((body) => body.includes('"item_reference"')).length, 3);
        assert.deepEqual(told(upstream.requests.at(-1)!), expected);
        const { balance, held } = await service.wallet(app, user);
        assert.deepEqual([upstream.requests.length - before, held, FUNDS - balance], [4, 0, 4 * chargeFor(TOKENS)]);
      });
    }
  }
});
