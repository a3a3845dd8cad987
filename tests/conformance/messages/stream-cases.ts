// Streams of every kind, and what a client has at the end of each.
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';
import { chunkOf, runOf, type Sent } from '../responses/streams.ts';
import { echoOf, eventsOf } from './streams.ts';

export function callPiece(index: number, words: string, name?: string, more: JsonObject = {}): JsonObject {
  const named = name === undefined ? {} : { id: `call_${index}`, type: 'function' };
  const called = { ...(name !== undefined && { name }), arguments: words };
  return { tool_calls: [{ index, ...named, function: called, ...more }] };
}

const content = (text: string) => chunkOf({ content: text });
const thought = (text: string) => chunkOf({ reasoning_content: text });
/** A piece of a thought of Claude's. */
const sealed = (index: number, more: JsonObject) =>
  chunkOf({ reasoning_details: [{ type: 'reasoning.text', index, format: 'anthropic-claude-v1', ...more }] });
const end = (reason: 'stop' | 'tool_calls' | 'content_filter' | 'length' = 'stop', more: JsonObject = {}) =>
  chunkOf({}, reason, more);

export const STREAMS = {
  text: [
    chunkOf({ role: 'assistant', content: '' }),
    content('Hi'),
    runOf((text) => chunkOf({ content: text }), [' you', ' "two"', ' ünd\n']),
    end(),
  ],
  'thoughts of Claude': [
    sealed(0, { text: 'Let me ' }),
    sealed(0, { text: 'see.' }),
    sealed(0, { signature: 'c2lnbmVk' }),
    chunkOf({
      reasoning_details: [{ type: 'reasoning.encrypted', index: 1, format: 'anthropic-claude-v1', data: 'hidden' }],
    }),
    content('Rome.'),
    end(),
  ],
  'thoughts and calls': [
    thought('Let me '),
    runOf((text) => chunkOf({ reasoning_content: text }), ['see', '.']),
    content('I look.'),
    chunkOf(callPiece(0, '{"city":', 'look')),
    runOf((text) => chunkOf(callPiece(0, text)), ['"Ro', 'me"}']),
    chunkOf(callPiece(1, '{}', 'find')),
    end('tool_calls'),
  ],
  'pieces of calls in turn': [
    chunkOf(callPiece(0, '{"a":', 'first')),
    chunkOf(callPiece(1, '{"b":', 'second')),
    chunkOf(callPiece(0, '1}')),
    chunkOf(callPiece(1, '2}')),
    chunkOf(callPiece(2, '', 'third')),
    content('Wait.'),
    end('tool_calls'),
  ],
  'a citation and a picture': [
    content('Rome is old.'),
    chunkOf({ annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }] }),
    chunkOf({ images: [{ image_url: { url: 'https://b.example/c.png' } }] }),
    end(),
  ],
  'a refusal': [chunkOf({ refusal: 'No.' }), end()],
  'a filter': [content('I'), end('content_filter')],
  'a stop sequence': [content('One '), end('stop', { stop_reason: 'END' })],
  'a limit': [content('One '), end('length')],
  nothing: [end()],
} as const satisfies Record<string, readonly Sent[]>;

export type StreamName = keyof typeof STREAMS;
export const STREAM_NAMES = Object.keys(STREAMS) as readonly StreamName[];

export function eventsNamed(name: StreamName): readonly JsonObject[] {
  return eventsOf(STREAMS[name], { echo: echoOf({ stopSequences: ['END'] }), isSilentFirst: true });
}
