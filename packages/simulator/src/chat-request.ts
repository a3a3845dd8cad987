import { malformed } from './api-error.ts';
import { parseJson } from './body.ts';
import { Fields } from './fields.ts';
import { type Message, parseMessages } from './message.ts';
import { countPromptTokens } from './tokens.ts';
import { parseToolPlan, parseTools, type ToolPlan } from './tool.ts';

/** The form of the answer: prose, any JSON object, or an instance of a schema. */
type AnswerFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: unknown };

/** A chat request, reduced to what the simulator honours. It ignores all other parameters. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly promptTokens: number;
  readonly choiceCount: number;
  /** The token limit of each choice. */
  readonly completionTokensMax: number | undefined;
  readonly stopTexts: readonly string[];
  readonly isStream: boolean;
  /** Whether the caller asked for the usage chunk of a stream. */
  readonly wantsUsageChunk: boolean;
  readonly toolPlan: ToolPlan;
  readonly format: AnswerFormat;
  /** How many alternatives each log probability lists. Undefined if the caller wants no log probabilities. */
  readonly logprobAlternatives: number | undefined;
}

const TOKENS_MAX = 10_000_000;
const CHOICES_MAX = 128;
const STOP_TEXTS_MAX = 4;
const LOGPROB_ALTERNATIVES_MAX = 20;

// Nothing here depends on these parameters. They are checked because real providers refuse values out of range.
const SAMPLING_RANGES = {
  temperature: { min: 0, max: 2 },
  top_p: { min: 0, max: 1 },
  frequency_penalty: { min: -2, max: 2 },
  presence_penalty: { min: -2, max: 2 },
} as const;

/** Parses the text of a body. Throws an `ApiError` with status 400 that names the first field at fault. */
export function parseChatRequest(body: string): ChatRequest {
  const request = new Fields(parseJson(body), '');
  for (const [name, range] of Object.entries(SAMPLING_RANGES)) request.number(name, range);
  const messages = parseMessages(request);
  const tools = parseTools(request);
  const format = parseFormat(request);
  const schema = format.type === 'json_schema' ? format.schema : undefined;
  return {
    model: request.text('model'),
    messages,
    promptTokens: countPromptTokens({ messages, tools, schema }),
    choiceCount: request.integer('n', { min: 1, max: CHOICES_MAX }) ?? 1,
    completionTokensMax: parseTokensMax(request),
    stopTexts: parseStop(request),
    ...parseStreaming(request),
    toolPlan: parseToolPlan(request, tools),
    format,
    logprobAlternatives: parseLogprobs(request),
  };
}

/** The smaller of the two limits if both are set. `max_tokens` is the older name and still widely used. */
function parseTokensMax(request: Fields): number | undefined {
  const range = { min: 1, max: TOKENS_MAX };
  const limits = [request.integer('max_completion_tokens', range), request.integer('max_tokens', range)];
  const given = limits.filter((limit) => limit !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

/** `stop` is one text or a list of up to four. A single empty text counts as none. */
function parseStop(request: Fields): readonly string[] {
  const stop = request.raw('stop');
  if (typeof stop === 'string') return stop === '' ? [] : [stop];
  const list = request.list('stop', { min: 0, max: STOP_TEXTS_MAX }) ?? [];
  return list.map((text, index) => {
    if (typeof text === 'string' && text !== '') return text;
    throw malformed(`stop[${index}]`, `\`stop[${index}]\` must be a string that is not empty.`);
  });
}

/** Reads `stream` and `stream_options`. Options without a stream are refused, because they would have no effect. */
function parseStreaming(request: Fields): Pick<ChatRequest, 'isStream' | 'wantsUsageChunk'> {
  const isStream = request.boolean('stream') ?? false;
  const options = request.object('stream_options');
  if (options !== undefined && !isStream) {
    throw malformed('stream_options', '`stream_options` is only allowed when `stream` is true.');
  }
  return { isStream, wantsUsageChunk: options?.boolean('include_usage') ?? false };
}

/** Reads `response_format`. A schema is used as it is: `instanceOf` copes with any value. */
function parseFormat(request: Fields): AnswerFormat {
  const format = request.object('response_format');
  const type = format?.text('type') ?? 'text';
  if (format === undefined || type === 'text') return { type: 'text' };
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') throw malformed('response_format.type', `\`${type}\` is not a response format.`);

  const named = new Fields(format.raw('json_schema'), 'response_format.json_schema');
  named.text('name');
  named.object('schema');
  return { type, schema: named.raw('schema') ?? {} };
}

/** Reads `logprobs` and `top_logprobs`. Alternatives without log probabilities are refused for the same reason. */
function parseLogprobs(request: Fields): number | undefined {
  const isWanted = request.boolean('logprobs') ?? false;
  const alternatives = request.integer('top_logprobs', { min: 0, max: LOGPROB_ALTERNATIVES_MAX });
  if (!isWanted && alternatives !== undefined && alternatives > 0) {
    throw malformed('top_logprobs', '`top_logprobs` is only allowed when `logprobs` is true.');
  }
  return isWanted ? (alternatives ?? 0) : undefined;
}
