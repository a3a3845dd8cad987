import type { UpstreamStep } from '../../../support/scripted-upstream.ts';
import { CANARY, inPieces } from './vendor.ts';

/** Anthropic's server-sent events. */

type Fields = Readonly<Record<string, unknown>>;

function event(type: string, fields: Fields): UpstreamStep {
  return { write: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n` };
}

/** The events of an answer, or of one that breaks off with an error. `head`: the message without what it says. */
export function streamed(
  head: Fields,
  content: readonly Fields[],
  usage: Fields,
  reason: string,
  error: string | undefined,
): readonly UpstreamStep[] {
  const { output_tokens: output } = usage;
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null };
  const steps: UpstreamStep[] = [
    event('message_start', { message: { ...message, usage: { ...usage, output_tokens: 1 } } }),
    event('ping', {}),
  ];
  for (const [index, block] of content.entries()) steps.push(...blockEvents(block, index));
  if (error === 'cut') return steps;
  if (error !== undefined) return [...steps, event('error', { error: { type: error, message: CANARY } })];
  const delta = { stop_reason: reason, stop_sequence: null };
  return [...steps, event('message_delta', { delta, usage: { output_tokens: output } }), event('message_stop', {})];
}

function blockEvents(block: Fields, index: number): readonly UpstreamStep[] {
  const start = (empty: Fields): UpstreamStep => event('content_block_start', { index, content_block: empty });
  const delta = (fields: Fields): UpstreamStep => event('content_block_delta', { index, delta: fields });
  const stop = event('content_block_stop', { index });
  switch (block['type']) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...inPieces(block['thinking']).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block['signature'] }),
        stop,
      ];
    case 'tool_use':
      return [
        start({ ...block, input: {} }),
        delta({ type: 'input_json_delta', partial_json: '' }),
        ...inPieces(JSON.stringify(block['input'])).map((text) =>
          delta({ type: 'input_json_delta', partial_json: text }),
        ),
        stop,
      ];
    default:
      return [
        start({ type: 'text', text: '' }),
        ...inPieces(block['text']).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ];
  }
}
