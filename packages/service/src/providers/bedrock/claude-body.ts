import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { takesStrict } from '#providers/models/bedrock.ts';
import type { ProviderCall } from '#providers/port/provider.ts';

/**
 * A body of Messages as InvokeModel takes it. Bedrock refuses a whole call for one member or beta that it does not know, so only what AWS
 * documents goes out: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
 */

const VERSION = 'bedrock-2023-05-31';
/** Members that every Claude takes there. `metadata` and `service_tier` are hints, and stay here. */
const MEMBERS = [
  'output_config',
  'stop_sequences',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'top_k',
  'top_p',
] as const;

const WITH_EDITS = /claude-(?:(?:opus|sonnet|haiku)-4(?:-[15])?(?:-\d{8}|@|$)|opus-4-7)/;
const UP_TO_4_6 = /claude-(?:opus|sonnet|haiku)-4(?:-[1-6])?(?:-\d{8}|-v|@|$)/;
const WITH_TOOL_SEARCH = /claude-(?:opus|sonnet)-4-[56]/;
const OLD = /claude-(?:instant|v?[23]|(?:opus|sonnet)-4(?:-1)?(?:-\d{8}|@|$))/;

const CONTEXT_EDITS = 'context-management-2025-06-27';
const TOOL_SEARCH = 'tool-search-tool-2025-10-19';
const TOOL_EXAMPLES = 'tool-examples-2025-10-29';

/**
 * Betas, and the models that take them. Models from 4.7 on refuse most (anthropics/claude-code#49370, #49648) and need none of those. The
 * betas of computers are left out with their tools, which are refused by name.
 */
const BETAS: ReadonlyMap<string, RegExp> = new Map([
  ['token-efficient-tools-2025-02-19', /claude-3-7/],
  ['output-128k-2025-02-19', /claude-3-7/],
  ['interleaved-thinking-2025-05-14', UP_TO_4_6],
  ['dev-full-thinking-2025-05-14', /claude-(?:opus|sonnet)-4(?:-\d{8}|@|$)/],
  ['context-1m-2025-08-07', /claude-(?:sonnet-4(?:-[56])?|opus-4-6)(?:-\d{8}|-v|@|$)/],
  // AWS names these, and not 4.6 (BerriAI/litellm#29206).
  [CONTEXT_EDITS, WITH_EDITS],
  ['effort-2025-11-24', /claude-opus-4-5/],
  [TOOL_SEARCH, WITH_TOOL_SEARCH],
  [TOOL_EXAMPLES, WITH_TOOL_SEARCH],
]);
/** Anthropic's own name for what has two names at Bedrock (BerriAI/litellm#19373). */
const TOOL_USE = 'advanced-tool-use-2025-11-20';

export function invokeBody({ native, providerModel, outputTokens }: ProviderCall): string {
  const asked = parseJson(native?.text ?? '{}') as JsonObject;
  const betas = betasFor(providerModel, native?.headers?.['anthropic-beta']);
  const fit = createFit(providerModel, betas);
  const { messages, tools, system, output_format: format, context_management: context } = asked;
  const body: Record<string, unknown> = { anthropic_version: VERSION, max_tokens: outputTokens };
  if (betas.size > 0) body['anthropic_beta'] = [...betas];
  for (const name of MEMBERS) if (asked[name] !== undefined) body[name] = asked[name];
  if (isJsonObject(format)) body['output_config'] = { format, ...(asked['output_config'] as JsonObject | undefined) };
  const edits = betas.has(CONTEXT_EDITS) ? editsIn(context) : [];
  if (edits.length > 0) body['context_management'] = { edits };
  if (Array.isArray(system)) body['system'] = system.map(fit.block);
  if (Array.isArray(tools)) body['tools'] = tools.map(fit.tool);
  const fitted = (messages as readonly JsonObject[]).map(fit.message);
  body['messages'] = withLastMark(fitted, fit.mark(asked['cache_control']));
  return JSON.stringify(body);
}

/** The one edit that Bedrock has. */
function editsIn(context: unknown): readonly unknown[] {
  const edits = isJsonObject(context) ? context['edits'] : undefined;
  return Array.isArray(edits) ? edits.filter(isJsonObject).filter(isToolClearing) : [];
}

function isToolClearing({ type }: JsonObject): boolean {
  return String(type).startsWith('clear_tool_uses_');
}

/** The same for a count. A limit is needed, above what the model may think. */
export function countBody(call: ProviderCall): string {
  const { thinking } = parseJson(call.native?.text ?? '{}') as JsonObject;
  const budget = isJsonObject(thinking) ? Number(thinking['budget_tokens'] ?? 0) : 0;
  const body = invokeBody({ ...call, outputTokens: budget + 1 });
  return JSON.stringify({ input: { invokeModel: { body: Buffer.from(body).toString('base64') } } });
}

function betasFor(providerModel: string, asked = ''): ReadonlySet<string> {
  const names = asked
    .split(',')
    .flatMap((name) => (name.trim() === TOOL_USE ? [TOOL_SEARCH, TOOL_EXAMPLES] : name.trim()));
  return new Set(names.filter((name) => BETAS.get(name)?.test(providerModel) === true));
}

/** What blocks and tools become for a model. */
function createFit(providerModel: string, betas: ReadonlySet<string>) {
  const hasLifetimes = !OLD.test(providerModel);
  const hasSearch = betas.has(TOOL_SEARCH);
  const [isStrict, hasExamples] = [takesStrict(providerModel), betas.has(TOOL_EXAMPLES)];

  /** Without the scope of a mark, and for old models without its lifetime. */
  function mark(given: unknown): unknown {
    if (!isJsonObject(given)) return given;
    const { type, ttl } = given;
    return ttl === undefined || !hasLifetimes ? { type } : { type, ttl };
  }

  function marked(given: JsonObject): JsonObject {
    const { cache_control: control } = given;
    return isJsonObject(control) ? { ...given, cache_control: mark(control) } : given;
  }

  /** A tool that is found later is named, where nobody finds it. */
  function block(given: unknown): unknown {
    if (!isJsonObject(given)) return given;
    const { type, tool_name: name, content } = given;
    if (type === 'tool_reference' && !hasSearch) return { type: 'text', text: String(name) };
    return marked(Array.isArray(content) ? { ...given, content: content.map(block) } : given);
  }

  return {
    mark,
    block,
    message: (given: JsonObject): JsonObject => {
      const { content } = given;
      return Array.isArray(content) ? { ...given, content: content.map(block) } : given;
    },
    tool: (given: unknown): unknown => {
      if (!isJsonObject(given)) return given;
      const {
        strict,
        defer_loading: isDeferred,
        input_examples: examples,
        allowed_callers: _callers,
        eager_input_streaming: _isEager,
        ...tool
      } = marked(given);
      return {
        ...tool,
        ...(isStrict && strict !== undefined && { strict }),
        ...(hasSearch && isDeferred !== undefined && { defer_loading: isDeferred }),
        ...(hasExamples && examples !== undefined && { input_examples: examples }),
      };
    },
  };
}

/** A mark of the whole request stands at its end: Bedrock has no such member (BerriAI/litellm#26320). */
function withLastMark(messages: readonly JsonObject[], mark: unknown): readonly JsonObject[] {
  const last = messages.at(-1);
  if (!isJsonObject(mark) || last === undefined) return messages;
  const { content } = last;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }];
  const end = blocks.at(-1);
  if (!isJsonObject(end) || isJsonObject(end['cache_control'])) return messages;
  return [...messages.slice(0, -1), { ...last, content: [...blocks.slice(0, -1), { ...end, cache_control: mark }] }];
}
