import type { AskedBy, ModelSupport } from '#gateway/call/wire.ts';
import { PASSED_OVER } from '#gateway/wires/messages/conversation/content.ts';
import { BILLING_HEADER } from '#gateway/wires/messages/conversation/conversation.ts';
import { nativeThoughts } from '#gateway/wires/messages/conversation/thought-signatures.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** What goes to a vendor who speaks this wire as the caller wrote it. The rest names the payer, or is decided here. */
const PASSED_ON = new Set([
  'cache_control',
  'output_config',
  'output_format',
  'service_tier',
  'stop_sequences',
  'temperature',
  'thinking',
  'top_k',
  'top_p',
]);

/** Edits of the context that cost nothing. A compaction is one more answer, which no hold covers. */
const FREE_EDIT = /^clear_(?:tool_uses|thinking)_/;

/** The request in its caller's own form, and what was left out of it. */
export interface NativeRequest {
  readonly native: JsonObject;
  readonly leftOut: readonly string[];
}

/** The request as its caller wrote it, for vendors who speak this wire (WI-02). */
export function nativeRequest(body: JsonObject): NativeRequest {
  const native: Record<string, unknown> = {};
  const add = (name: string, value: unknown): void => {
    if (value !== undefined && value !== null) native[name] = value;
  };
  for (const name of Object.keys(body)) if (PASSED_ON.has(name)) add(name, body[name]);
  const context = contextOf(body['context_management']);
  add('context_management', context.kept);
  const { tools, tool_choice: choice } = body;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  if (hasTools) {
    add('tools', tools);
    add('tool_choice', choice);
  }
  add('system', systemOf(body['system']));
  const messages = listOf(body['messages']);
  native['messages'] = messages.every(isText) ? messages : messages.flatMap(messageOf);
  return { native, leftOut: context.leftOut };
}

function contextOf(value: unknown): { readonly kept?: unknown; readonly leftOut: readonly string[] } {
  if (!isJsonObject(value)) return { leftOut: [] };
  const edits = listOf(value['edits']);
  const kept = edits.filter(isFree);
  const leftOut = edits.filter((edit) => !isFree(edit)).map(({ type }) => `context_management.${String(type)}`);
  return { kept: kept.length === 0 ? undefined : { edits: kept }, leftOut };
}

function isFree({ type }: JsonObject): boolean {
  return typeof type === 'string' && FREE_EDIT.test(type);
}

/** Without what Claude Code writes for its vendor's bills: it differs from call to call, so that no cache would hit. */
function systemOf(system: unknown): unknown {
  if (!Array.isArray(system)) return system === '' ? undefined : system;
  const kept = listOf(system).filter(({ text }) => typeof text !== 'string' || !BILLING_HEADER.test(text));
  return kept.length === 0 ? undefined : kept;
}

function isText({ content }: JsonObject): boolean {
  return typeof content === 'string';
}

/** None if nothing of it is left. */
function messageOf(message: JsonObject): readonly JsonObject[] {
  const { content } = message;
  if (!Array.isArray(content)) return [message];
  const given: readonly JsonObject[] = listOf(content);
  const kept = given.flatMap(blocksOf);
  if (kept.length === 0) return [];
  const isSame = kept.length === given.length && kept.every((block, place) => block === given[place]);
  return [isSame ? message : { ...message, content: kept }];
}

function blocksOf(block: JsonObject): readonly JsonObject[] {
  const { type, text, content } = block;
  if (type === 'thinking' || type === 'redacted_thinking') return nativeThoughts(block);
  if (type === 'text') return text === '' ? [] : [block];
  if (type !== 'tool_result') return typeof type === 'string' && PASSED_OVER.test(type) ? [] : [block];
  if (!Array.isArray(content)) return [block];
  const kept = listOf(content).filter((one) => !PASSED_OVER.test(String(one['type'])));
  return [kept.length === content.length ? block : { ...block, content: kept }];
}

/** The list was checked when it was read. */
function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The definitions of tools are put in the place of each reference to them, so that one is longer than it is written. */
export function tokensOfReferences({ tools, messages }: JsonObject): number {
  const sizes = new Map<unknown, number>();
  const sizeOf = (name: unknown): number => {
    const known = sizes.get(name);
    if (known !== undefined) return known;
    const tool = listOf(tools).find((one) => one['name'] === name);
    const size = tool === undefined ? 0 : Buffer.byteLength(JSON.stringify(tool));
    sizes.set(name, size);
    return size;
  };
  let tokens = 0;
  for (const { content } of listOf(messages)) {
    for (const block of listOf(content)) {
      for (const one of [block, ...listOf(block['content'])]) {
        if (one['type'] === 'tool_reference') tokens += sizeOf(one['tool_name']);
      }
    }
  }
  return tokens;
}

const VERSION = /^\d{4}-\d{2}-\d{2}$/;
const BETAS = /^[\x20-\x7e]{1,4096}$/;
/** It lets a prompt be longer than the model's context is here, at a higher price. No hold would cover that (WA-07). */
const LONGER_CONTEXT = /^context-1m/;
const LONG_CONTEXT_TOKENS = 1_000_000;

/** The headers of the caller for the vendor. A beta that needs a longer context than the model has here is left out. */
export function nativeHeaders(
  { version, betas }: Pick<AskedBy, 'version' | 'betas'>,
  { contextTokens }: ModelSupport,
): Readonly<Record<string, string>> | Refusal<'BAD_REQUEST'> {
  if (version !== undefined && !VERSION.test(version))
    return refuseHeader('anthropic-version', 'a date, such as "2023-06-01"');
  if (betas !== undefined && betas !== '' && !BETAS.test(betas)) {
    return refuseHeader('anthropic-beta', 'names in ASCII, at most 4,096 characters together');
  }
  const named = version === undefined ? {} : { 'anthropic-version': version };
  if (betas === undefined) return named;
  const isLong = contextTokens >= LONG_CONTEXT_TOKENS;
  const names = betas.split(',').map((name) => name.trim());
  const kept = names.filter((name) => name !== '' && (isLong || !LONGER_CONTEXT.test(name)));
  return kept.length === 0 ? named : { ...named, 'anthropic-beta': kept.join(',') };
}

function refuseHeader(param: string, expects: string): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', `The header \`${param}\` must be ${expects}.`, { param });
}
