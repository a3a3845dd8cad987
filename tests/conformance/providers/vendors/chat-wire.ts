import type { UpstreamStep } from '../../../support/scripted-upstream.ts';
import { askedReason, inPieces, PIXEL, SCHEMA_ANSWER } from './vendor.ts';

/** The chat-completions format as servers of it document it: what they say to a request, whole or as a stream. */

export type Fields = Readonly<Record<string, unknown>>;

export interface Said {
  readonly text: string;
  readonly calls?: readonly { readonly id: string; readonly city: string }[];
  /** The reason to finish. It is `stop` or `tool_calls` unless given. */
  readonly reason?: string;
}

interface Written {
  readonly model: string;
  readonly said: Said;
  readonly usage: Fields;
  /** Fields of every choice. */
  readonly ofChoice?: Fields;
}

/** What the model says. It depends on the request alone. */
export function answerTo(body: Fields, name: string, ids: readonly [string, string]): Said {
  if (body['response_format'] !== undefined) return { text: SCHEMA_ANSWER };
  const messages = body['messages'] as readonly Fields[];
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
  if (results.length > 0) return { text: `Results: ${results.join(', ')}` };
  const { content } = lastOf(messages);
  const parts = Array.isArray(content) ? (content as readonly Fields[]) : [];
  const images = parts.filter(({ type, image_url: image }) => type === 'image_url' && isPixel(image));
  if (images.length > 0) return { text: `I see ${images.length} image` };
  if (body['tools'] === undefined) return { text: `Hello from ${name} 🐟`, reason: askedReason(content, 'stop') };
  const calls = [
    { id: ids[0], city: 'Bern' },
    { id: ids[1], city: 'Zürich' },
  ];
  return { text: 'Let me look. ', calls };
}

/** The failure that the prompt asks for: its word, and whether it comes within a stream. */
export function failureAsked(body: Fields): { readonly word: string; readonly isLate: boolean } | undefined {
  const { content } = lastOf(body['messages'] as readonly Fields[]);
  const [, word, late] = /^fail (\w+)( late)?$/.exec(String(content)) ?? [];
  return word === undefined ? undefined : { word, isLate: late !== undefined };
}

function lastOf(messages: readonly Fields[]): Fields {
  return messages.at(-1) ?? {};
}

function isPixel(image: unknown): boolean {
  return String((image as Fields)['url']) === `data:image/png;base64,${PIXEL}`;
}

const HEAD = { id: 'chatcmpl-1', created: 1_764_000_000 };

function reasonOf({ calls, reason }: Said): string {
  return reason ?? (calls === undefined ? 'stop' : 'tool_calls');
}

function callOf({ id, city }: { readonly id: string; readonly city: string }): Fields {
  return { id, type: 'function', function: { name: 'weather', arguments: JSON.stringify({ city }) } };
}

export function wholeAnswer({ model, said, usage, ofChoice }: Written): string {
  const message = { role: 'assistant', content: said.text, ...(said.calls && { tool_calls: said.calls.map(callOf) }) };
  const choices = [{ index: 0, message, finish_reason: reasonOf(said), ...ofChoice }];
  return JSON.stringify({ ...HEAD, object: 'chat.completion', model, choices, usage });
}

export function event(payload: unknown): UpstreamStep {
  return { write: `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n` };
}

/** A stream in parts. `begin` and `end` are for what vendors do differently. */
export function streamParts({ model, said, ofChoice }: Omit<Written, 'usage'>) {
  const chunk = (choices: readonly unknown[], fields: Fields = {}): UpstreamStep =>
    event({ ...HEAD, object: 'chat.completion.chunk', model, choices, ...fields });
  const delta = (fields: Fields, reason: string | null = null): Fields => {
    return { index: 0, delta: fields, finish_reason: reason, ...ofChoice };
  };
  return {
    chunk,
    delta,
    reason: reasonOf(said),
    texts: [delta({ role: 'assistant', content: '' }), ...inPieces(said.text).map((content) => delta({ content }))],
    calls: said.calls ?? [],
  };
}
