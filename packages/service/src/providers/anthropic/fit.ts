import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { isFinished } from '#providers/openai-compatible/answer-shape.ts';
import type { AnswerFit } from '#providers/translated/fit-answer.ts';

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
};

/** Returns true for the usage of an answer that Anthropic does not bill: Claude refused before it had said anything. */
export function isUnbilled(raw: unknown): boolean {
  return isJsonObject(raw) && raw[UNBILLED] === true;
}

/** Makes what Anthropic sends readable for its library, and its usage that of the larger report. */
export function createClaudeFit(): AnswerFit {
  const leftOut = new Set<unknown>();
  let usage: JsonObject | undefined;
  let hasOutput = false;
  let hasReason = false;
  let hasStopped = false;

  function eventOf(event: JsonObject): JsonObject | undefined {
    const { type, index } = event;
    switch (type) {
      case 'message_start': {
        const message = fieldsIn(event, 'message');
        usage = fieldsIn(message, 'usage');
        return event;
      }
      case 'content_block_start': {
        const block = fieldsIn(event, 'content_block');
        if (!BLOCKS.has(block['type'])) leftOut.add(index);
        else leftOut.delete(index);
        hasOutput ||= !leftOut.has(index) && saysAnything(block);
        return leftOut.has(index) ? undefined : event;
      }
      case 'content_block_delta': {
        const delta = fieldsIn(event, 'delta');
        if (leftOut.has(index) || !(DELTAS.has(delta['type']) || isKnownCitation(delta['citation']))) return undefined;
        hasOutput ||= saysAnything(delta);
        return event;
      }
      case 'content_block_stop':
        return leftOut.has(index) ? undefined : event;
      case 'message_delta': {
        const reason = fieldsIn(event, 'delta')['stop_reason'];
        hasReason ||= isFinished({ finish_reason: reason });
        if (!isJsonObject(event['usage'])) return event;
        usage = largerUsage(usage, event['usage']);
        return { ...event, usage: reason === 'refusal' && !hasOutput ? NOTHING : usage };
      }
      case 'message_stop':
        hasStopped = true;
        return event;
      default:
        return event;
    }
  }

  return {
    event: (event) => (hasStopped || isOther(event) ? undefined : eventOf(event)),
    rest: () => {
      if (hasStopped) return [];
      return hasReason ? [{ type: 'message_stop' }] : undefined;
    },
    whole: (answer) => {
      const { content, stop_reason: reason } = answer;
      if (!Array.isArray(content)) return answer;
      const blocks = content
        .filter((block) => isJsonObject(block) && BLOCKS.has(block['type']))
        .map(withKnownCitations);
      const isSilent = !blocks.some(saysAnything);
      return { ...answer, content: blocks, ...(reason === 'refusal' && isSilent && { usage: NOTHING }) };
    },
  };
}

function isOther({ type }: JsonObject): boolean {
  return typeof type === 'string' && !EVENTS.has(type);
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

const PROMPT = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/**
 * The later report of a stream with what the earlier one has more of: some servers write zeros over a prompt that they have counted. A
 * later prompt of the same length counts, because it may tell the cached part apart.
 */
function largerUsage(earlier: JsonObject = {}, later: JsonObject): JsonObject {
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
