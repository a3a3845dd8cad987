// Messages and their events, as Claude's vendor writes them. Like the scripted upstream, it shares nothing with the service.
import type { UpstreamScript } from './scripted-upstream.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** 900 tokens of input, 4,000 from a cache, 300 written to it for 5 minutes and 200 for an hour, and 40 of output. */
const CLAUDE_USAGE = {
  input_tokens: 900,
  cache_creation_input_tokens: 500,
  cache_read_input_tokens: 4_000,
  cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 },
  output_tokens: 40,
  output_tokens_details: { thinking_tokens: 12 },
  service_tier: 'priority',
  inference_geo: 'secret-place',
};

/** What a vendor says of its account beside an answer. */
const HEAD = {
  id: 'msg_secret',
  type: 'message',
  role: 'assistant',
  model: 'claude-secret-20260101',
  container: { id: 'container_secret', expires_at: '2026-01-01T00:00:00Z' },
};

const CITED = {
  type: 'char_location',
  cited_text: 'Rome is old.',
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 12,
};

/** Blocks of every sort, and one that nobody knows. */
export const BLOCKS: readonly Fields[] = [
  { type: 'thinking', thinking: 'Let me "see".\n', signature: 'c2lnbmVk' },
  { type: 'redacted_thinking', data: 'aGlkZGVu' },
  { type: 'text', text: 'Rome is old. 🐟', citations: [CITED] },
  { type: 'tool_use', id: 'toolu_1', name: 'look', input: { city: 'Zürich', deep: { a: [1] } } },
  { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
];
export const NEW_BLOCK: Fields = { type: 'new_block', payload: { any: ['thing'] } };
export const EDITS = { applied_edits: [{ type: 'clear_thinking_20251015', cleared_thinking_turns: 2 }] };

export interface Answer {
  readonly content?: readonly Fields[];
  readonly reason?: string | null;
  /** Members beside the reason. */
  readonly end?: Fields;
  readonly first?: Fields;
  readonly usage?: Fields | null;
  readonly more?: Fields;
}

/** A whole message. */
function messageOf({ content = BLOCKS, reason = 'tool_use', end = {}, usage, more }: Answer = {}): Fields {
  const stop = { stop_reason: reason, stop_sequence: null, ...end };
  return { ...HEAD, content, ...stop, usage: usage === undefined ? CLAUDE_USAGE : usage, ...more };
}

/** The events of a stream that says the same. */
export function eventsOf({
  content = BLOCKS,
  reason = 'tool_use',
  end = {},
  first = {},
  usage,
  more,
}: Answer = {}): readonly Fields[] {
  const told = usage === undefined ? CLAUDE_USAGE : usage;
  const { output_tokens: output, output_tokens_details: details } = told ?? {};
  const begun = { ...HEAD, content: [], stop_reason: null, stop_sequence: null };
  return [
    { type: 'message_start', message: { ...begun, usage: { ...told, output_tokens: 1, ...first } } },
    { type: 'ping' },
    ...content.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null, ...end },
      usage: told === null ? null : { output_tokens: output, output_tokens_details: details },
      ...more,
    },
    { type: 'message_stop' },
  ];
}

function pieces(text: unknown): readonly string[] {
  return String(text).match(/.{1,4}/gsu) ?? [''];
}

function blockEvents(block: Fields, index: number): readonly Fields[] {
  const { type, citations = [] } = block;
  const delta = (said: Fields): Fields => ({ type: 'content_block_delta', index, delta: said });
  const framed = (content_block: Fields, ...said: readonly Fields[]): readonly Fields[] => [
    { type: 'content_block_start', index, content_block },
    ...said.map(delta),
    { type: 'content_block_stop', index },
  ];
  switch (type) {
    case 'thinking':
      return framed(
        { type, thinking: '', signature: '' },
        ...pieces(block['thinking']).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block['signature'] },
      );
    case 'text':
      return framed(
        { type, text: '' },
        ...pieces(block['text']).map((text) => ({ type: 'text_delta', text })),
        ...(citations as readonly Fields[]).map((citation) => ({ type: 'citations_delta', citation })),
      );
    case 'tool_use':
      return framed(
        { ...block, input: {} },
        { type: 'input_json_delta', partial_json: '' },
        ...pieces(JSON.stringify(block['input'])).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      );
    case 'new_block':
      return framed({ type }, { type: 'new_delta', payload: block['payload'] });
    default:
      return framed(block);
  }
}

export function textOfEvents(events: readonly Fields[]): string {
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

export function answering(answer: Answer = {}): UpstreamScript {
  return { body: JSON.stringify(messageOf(answer)) };
}

/** All events in one read. */
export function streaming(answer: Answer = {}): UpstreamScript {
  return { body: [{ write: textOfEvents(eventsOf(answer)) }] };
}

export const OVERLOADED: Fields = {
  type: 'error',
  error: { type: 'overloaded_error', message: 'The vendor says so.' },
};

/** A short answer, and what it costs. */
export const USAGE = { input_tokens: 50, output_tokens: 20 };
export const HELLO: readonly Fields[] = [{ type: 'text', text: 'Hello there' }];
export const hello = { content: HELLO, reason: 'end_turn', usage: USAGE };
