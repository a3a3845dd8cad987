import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import type { TokenCounts } from '#providers/completion.ts';
import { isFinished } from '#providers/openai-compatible/answer-shape.ts';
import type { AnswerFit } from '#providers/translated/fit-answer.ts';
import { UNTOLD } from '#providers/translated/usage.ts';

/**
 * The events, blocks, deltas and citations that the translation knows. Anthropic adds others without notice and says that clients must
 * ignore them, but its library fails at them. Blocks of tools that run at the vendor are among those: nobody asked for them.
 */
const EVENTS: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'error',
]);
const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);
const DELTAS: ReadonlySet<unknown> = new Set(['text_delta', 'thinking_delta', 'signature_delta', 'input_json_delta']);
const CITATIONS: ReadonlySet<unknown> = new Set([
  'web_search_result_location',
  'page_location',
  'char_location',
  'content_block_location',
  'search_result_location',
]);

const UNBILLED = 'purser_unbilled';
const NOTHING: JsonObject = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  [UNBILLED]: true,
  [UNTOLD]: [],
};

/** Returns true for the usage of an answer that Anthropic does not bill: Claude refused before it had said anything. */
export function isUnbilled(raw: unknown): boolean {
  return isJsonObject(raw) && raw[UNBILLED] === true;
}

/** Makes what Anthropic sends readable for its library, and its usage that of the larger report. */
export function createClaudeFit(): AnswerFit {
  const leftOut = new Set<unknown>();
  const usage = createUsage();
  let hasReason = false;
  let hasStopped = false;

  function blockEvents(event: JsonObject): readonly JsonObject[] {
    const { index } = event;
    const block = fieldsIn(event, 'content_block');
    if (!BLOCKS.has(block['type'])) {
      leftOut.add(index);
      return [];
    }
    leftOut.delete(index);
    usage.followText(block);
    return begunBlock(event, block);
  }

  function eventsOf(event: JsonObject): readonly JsonObject[] {
    const { type, index } = event;
    switch (type) {
      case 'message_start': {
        const { id, model, role, usage: told } = fieldsIn(event, 'message');
        return [{ type, message: { id, model, role, usage: usage.first(told) } }];
      }
      case 'content_block_start':
        return blockEvents(event);
      case 'content_block_delta': {
        const delta = fieldsIn(event, 'delta');
        if (leftOut.has(index) || !(DELTAS.has(delta['type']) || isKnownCitation(delta['citation']))) return [];
        usage.followText(delta);
        return [event];
      }
      case 'content_block_stop':
        return leftOut.has(index) ? [] : [event];
      case 'message_delta': {
        const { stop_reason, stop_sequence } = fieldsIn(event, 'delta');
        hasReason ||= isFinished({ finish_reason: stop_reason });
        return [{ type, delta: { stop_reason, stop_sequence }, usage: usage.later(event['usage'], stop_reason) }];
      }
      case 'message_stop':
        hasStopped = true;
        return [event];
      default:
        // Behind a reason and its usage, an error takes nothing back (CC-11).
        return hasReason && usage.isCounted() ? [] : [event];
    }
  }

  return {
    names: EVENTS,
    event: (event) => (hasStopped || isOther(event) ? [] : eventsOf(event)),
    rest: () => {
      if (hasStopped) return [];
      return hasReason ? [{ type: 'message_stop' }] : undefined;
    },
    whole: wholeAnswer,
  };
}

/** The usage of one stream, as its library gets it. */
function createUsage() {
  let usage: JsonObject = {};
  let hasOutput = false;
  /** The output was counted behind its text. Before it, a server can only guess. */
  let isCounted = false;
  return {
    followText: (said: JsonObject): void => {
      if (!saysAnything(said)) return;
      hasOutput = true;
      isCounted = false;
    },
    isCounted: () => isCounted,
    first: (told: unknown): JsonObject => {
      usage = knownUsage(told);
      return wholeUsage(usage, false);
    },
    later: (told: unknown, reason: unknown): JsonObject => {
      const known = knownUsage(told);
      isCounted ||= known['output_tokens'] !== undefined;
      usage = largerUsage(usage, known);
      return reason === 'refusal' && !hasOutput ? NOTHING : wholeUsage(usage, isCounted);
    },
  };
}

function wholeAnswer(answer: JsonObject): JsonObject {
  const { type, id, model, role, content, stop_reason, stop_sequence, usage: told } = answer;
  if (!Array.isArray(content)) return answer;
  const blocks = content
    .filter((block) => isJsonObject(block) && BLOCKS.has(block['type']))
    .map(withKnownCitations)
    .map(withInput);
  const isSilent = !blocks.some(saysAnything);
  // An answer that says something and not why it ended is whole all the same: it was billed (CC-11).
  const reason = isSilent || isFinished({ finish_reason: stop_reason }) ? stop_reason : reasonFor(blocks);
  const usage = knownUsage(told);
  const isUnbilled = reason === 'refusal' && isSilent;
  const counted = isUnbilled ? NOTHING : wholeUsage(usage, usage['output_tokens'] !== undefined);
  return { type, id, model, role, content: blocks, stop_reason: reason, stop_sequence, usage: counted };
}

function reasonFor(blocks: readonly JsonObject[]): string {
  return blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
}

/** The library reads no text of a block's beginning, and no arguments that are not an object. */
function begunBlock(event: JsonObject, block: JsonObject): readonly JsonObject[] {
  const { index } = event;
  const { type, text, thinking } = block;
  if (type === 'tool_use') return [{ ...event, content_block: withInput(block) }];
  const delta =
    type === 'text' && text !== ''
      ? { type: 'text_delta', text }
      : type === 'thinking' && thinking !== ''
        ? { type: 'thinking_delta', thinking }
        : undefined;
  if (delta === undefined || !saysAnything(delta)) return [event];
  const empty = type === 'text' ? { text: '' } : { thinking: '' };
  return [
    { ...event, content_block: { ...block, ...empty } },
    { type: 'content_block_delta', index, delta },
  ];
}

/** A call with its arguments as an object. Some servers write them as a text, null or nothing. */
function withInput(block: JsonObject): JsonObject {
  const { type, input } = block;
  if (type !== 'tool_use' || isJsonObject(input)) return block;
  const parsed = typeof input === 'string' ? parseJson(input) : input;
  return { ...block, input: parsed ?? {} };
}

/** Objects without a type are others too, unless they tell of an error. */
function isOther({ type, error }: JsonObject): boolean {
  return typeof type === 'string' ? !EVENTS.has(type) : error === undefined;
}

function isKnownCitation(citation: unknown): boolean {
  return isJsonObject(citation) && CITATIONS.has(citation['type']);
}

function withKnownCitations(block: JsonObject): JsonObject {
  const { citations } = block;
  return Array.isArray(citations) ? { ...block, citations: citations.filter(isKnownCitation) } : block;
}

/** The text of a block or a delta, a call, or reasoning that is sealed. */
const OUTPUT = ['text', 'thinking', 'partial_json', 'name', 'data'];

function saysAnything(said: JsonObject): boolean {
  return OUTPUT.some((name) => typeof said[name] === 'string' && said[name] !== '');
}

function fieldsIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

/** The counts of a usage, without what is new in it or no count. */
function knownUsage(told: unknown): JsonObject {
  const given = isJsonObject(told) ? told : {};
  const counts = [...PROMPT, 'output_tokens'].filter((name) => typeof given[name] === 'number');
  const parts = PARTS.filter((name) => isJsonObject(given[name]));
  const { iterations } = given;
  const known = Array.isArray(iterations) ? iterations.filter(isKnownIteration) : [];
  return {
    ...Object.fromEntries([...counts, ...parts].map((name) => [name, given[name]])),
    ...(known.length > 0 && { iterations: known }),
  };
}

function isKnownIteration(iteration: unknown): boolean {
  return (
    isJsonObject(iteration) &&
    ITERATIONS.has(iteration['type']) &&
    typeof iteration['input_tokens'] === 'number' &&
    typeof iteration['output_tokens'] === 'number'
  );
}

const PARTS = ['cache_creation', 'server_tool_use', 'output_tokens_details'];
const ITERATIONS: ReadonlySet<unknown> = new Set(['compaction', 'message', 'advisor_message', 'fallback_message']);

/** The usage with the two counts that the library needs, and which of them nobody has told. */
function wholeUsage(usage: JsonObject, isCounted: boolean): JsonObject {
  const untold: (keyof TokenCounts)[] = [];
  if (usage['input_tokens'] === undefined) untold.push('prompt');
  if (!isCounted) untold.push('completion', 'reasoning');
  return {
    ...usage,
    input_tokens: usage['input_tokens'] ?? 0,
    output_tokens: usage['output_tokens'] ?? 0,
    [UNTOLD]: untold,
  };
}

const PROMPT = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/**
 * The later report of a stream with what the earlier one has more of: some servers write zeros over a prompt that they have counted. A
 * later prompt of the same length counts, because it may tell the cached part apart.
 */
function largerUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const joined = { ...earlier, ...later };
  const isLess = promptOf(joined) < promptOf(earlier);
  const prompt = isLess ? Object.fromEntries(PROMPT.map((name) => [name, earlier[name]])) : {};
  const creation = isLess ? { cache_creation: earlier['cache_creation'] } : {};
  const output_tokens = Math.max(countIn(earlier, 'output_tokens'), countIn(later, 'output_tokens'));
  return { ...joined, ...prompt, ...creation, output_tokens };
}

function promptOf(usage: JsonObject): number {
  return PROMPT.reduce((sum, name) => sum + countIn(usage, name), 0);
}

function countIn(usage: JsonObject, name: string): number {
  const count = usage[name];
  return typeof count === 'number' ? count : 0;
}
