import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { callItem, messageItem, responding, streaming } from './responses-upstream.ts';
import { completionBody, type RecordedRequest, streamSteps, type UpstreamScript } from './scripted-upstream.ts';

/** A server of the compatible format, as `catalogue probe` may find one. */
export interface ProbedServer {
  /** The names of the output limit that it knows. */
  readonly limits: readonly string[];
  readonly reportsUsage: boolean;
  /** Whether it refuses `stream_options` and tools, and ignores schemas and the developer role. */
  readonly isOld: boolean;
  /** The usage of a plain answer covers its first choice only, as that of llama.cpp does. */
  readonly countsOneChoice?: boolean;
  /** The interfaces that it serves; chat completions unless given. */
  readonly apis?: readonly ('chat' | 'responses' | 'embeddings')[];
  /** Whether the size of its vectors can be chosen. */
  readonly shortensVectors?: boolean;
  /** Whether it takes tools by Responses alone. */
  readonly hasToolsElsewhere?: boolean;
  /** Whether the model obeys messages. It is false for a model that obeys no message at all. */
  readonly obeys?: boolean;
}

export const GOOD_SERVER: ProbedServer = {
  limits: ['max_tokens', 'max_completion_tokens'],
  reportsUsage: true,
  isOld: false,
};

/** A server that answers the questions of the probe as a model behind it might. */
export function answerOf({
  limits,
  reportsUsage,
  isOld,
  obeys = true,
  countsOneChoice = false,
  apis = ['chat'],
  hasToolsElsewhere = false,
  shortensVectors = true,
}: ProbedServer): (request: RecordedRequest) => UpstreamScript {
  return ({ path: address, body }) => {
    if (address === '/v1/models') {
      return { body: JSON.stringify({ data: [{ id: 'other' }, { id: 'small', max_model_len: 8_192 }] }) };
    }
    const asked = body as JsonObject;
    const api = address.endsWith('/responses') ? 'responses' : address.endsWith('/embeddings') ? 'embeddings' : 'chat';
    if (!apis.includes(api)) return { status: 404, body: '{}' };
    if (api === 'embeddings') return vectorsFor(asked, { reportsUsage, shortensVectors });
    if (address.endsWith('/responses')) return responseTo(asked);
    const [message] = asked['messages'] as readonly JsonObject[];
    const facts = { model: 'small', content: null };
    if (asked['tools'] !== undefined) {
      if (isOld || hasToolsElsewhere) return { status: 400, body: '{"error":{"message":"CANARY"}}' };
      const call = { id: 'c', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } };
      return { body: completionBody({ ...facts, toolCalls: [call], finishReason: 'tool_calls' }) };
    }
    if (asked['response_format'] !== undefined) {
      const content = isOld ? 'Paris, in 2024.' : '{"city":"Paris","year":2024}';
      return { body: completionBody({ ...facts, content }) };
    }
    if (asked['stream'] === true) {
      if (isOld && asked['stream_options'] !== undefined) return { status: 422, body: '{}' };
      const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
      const pieces = ['one', ' two', ' three'];
      return { body: streamSteps({ model: 'small', pieces, usage, includeUsageChunk: reportsUsage }) };
    }
    if (message?.['role'] !== 'user') {
      const isObeyed = obeys && (!isOld || message?.['role'] === 'system');
      return { body: completionBody({ ...facts, content: isObeyed ? 'PINEAPPLE' : 'Paris.' }) };
    }
    const limit = Math.min(...limits.map((name) => Number(asked[name] ?? Number.POSITIVE_INFINITY)));
    const tokens = Math.min(limit, 200);
    const content = Array.from({ length: Math.ceil(tokens / 2) }, (_, index) => index + 1).join(' ');
    const choices = Number(asked['n'] ?? 1);
    const counted = countsOneChoice ? tokens : tokens * choices;
    const usage = reportsUsage
      ? { prompt_tokens: 20, completion_tokens: counted, total_tokens: counted + 20 }
      : undefined;
    const one = completionBody({ ...facts, content, usage, finishReason: tokens < 200 ? 'length' : 'stop' });
    if (choices === 1) return { body: one };
    const answer = JSON.parse(one) as { readonly choices: readonly JsonObject[] };
    const all = Array.from({ length: choices }, (_, index) => ({ ...answer.choices[0], index }));
    return { body: JSON.stringify({ ...answer, choices: all }) };
  };
}

/** The same by Responses. */
function responseTo(asked: JsonObject): UpstreamScript {
  if (asked['tools'] !== undefined) return responding([callItem('get_weather', '{"city":"Paris"}')]);
  if (asked['text'] !== undefined) return responding([messageItem('{"city":"Paris","year":2024}')]);
  if (asked['stream'] === true) return streaming([messageItem('one two three')]);
  const [message] = asked['input'] as readonly JsonObject[];
  if (message?.['role'] !== 'user') return responding([messageItem('PINEAPPLE')]);
  const usage = { input_tokens: 20, output_tokens: asked['max_output_tokens'], total_tokens: 44 };
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage };
  return responding([messageItem('1 2 3 4 5')], cut);
}

function vectorsFor(
  { input, dimensions }: JsonObject,
  { reportsUsage, shortensVectors }: Pick<ProbedServer, 'reportsUsage' | 'shortensVectors'>,
): UpstreamScript {
  const numbers = shortensVectors === true ? Number(dimensions ?? 1_024) : 1_024;
  const data = [input].flat().map((_, index) => ({ object: 'embedding', index, embedding: Array(numbers).fill(0.5) }));
  const usage = reportsUsage ? { usage: { prompt_tokens: 4, total_tokens: 4 } } : {};
  return { body: JSON.stringify({ object: 'list', data, model: 'small', ...usage }) };
}
