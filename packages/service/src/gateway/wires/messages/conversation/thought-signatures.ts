import { parseBody } from '#gateway/body/parse-body.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

/**
 * Thoughts on this wire. Claude's have a signature of their own. Those of other vendors have what their vendor wants back in the place of
 * the signature, which clients send back unchanged and never read.
 */

/** The format of thoughts that have a signature of Claude's. */
const CLAUDE = 'anthropic-claude-v1';
const PREFIX = 'purser.';
/** A message has no more thoughts than this in one signature. */
const DETAILS_MAX = 1_000;

/** A finished thought: what its vendor wants back, its text, and the field of the message that the text came in. */
export interface FinishedThought {
  readonly sealed: readonly JsonObject[] | undefined;
  readonly text: string;
  readonly field: string | undefined;
  /** Whether the caller sees the text, and so sends it back. */
  readonly isShown: boolean;
}

/** The fields of a message in which vendors of chat completions want thoughts back that led to calls. */
const FIELDS: ReadonlySet<string | undefined> = new Set(['reasoning', 'reasoning_content']);

/** The signature of a thought. It is '' if its vendor wants nothing back. */
export function signatureOf({ sealed, text, field, isShown }: FinishedThought): string {
  if (sealed === undefined) {
    return FIELDS.has(field) ? packed([{ type: `message.${field}`, ...(!isShown && { text }) }]) : '';
  }
  const [only, ...others] = sealed;
  const { signature } = only ?? {};
  const isOwn = only?.['format'] === CLAUDE && others.length === 0 && typeof signature === 'string';
  return isOwn && (isShown || text === '') ? signature : packed(sealed);
}

/** What a vendor wants back with something else than a thought. */
export function packed(details: readonly JsonObject[]): string {
  return PREFIX + Buffer.from(JSON.stringify(details)).toString('base64url');
}

/** The data of a block that Claude does not show. Undefined if the detail is none. */
export function hiddenData({ format, data }: JsonObject): string | undefined {
  return format === CLAUDE && typeof data === 'string' && data !== '' ? data : undefined;
}

/**
 * The items of `reasoning_details` that a block of a message was, `index` being its place in the message. Beside those, items of the types
 * `message.reasoning`, `message.reasoning_content` and `tool_call.extra_content`, as on the wire of Responses. What a caller has put
 * together by themselves has no form that can be relied on.
 */
export function detailsOf({ type, thinking, signature, data }: JsonObject, index: number): readonly JsonObject[] {
  if (type === 'redacted_thinking') {
    return typeof data === 'string' ? [{ type: 'reasoning.encrypted', data, index, format: CLAUDE }] : [];
  }
  const text = typeof thinking === 'string' ? thinking : '';
  if (typeof signature !== 'string' || signature === '') return [];
  const details = unpacked(signature);
  if (details === undefined) return [{ type: 'reasoning.text', text, signature, index, format: CLAUDE }];
  return details.map((detail) => {
    const isText = typeof detail['type'] === 'string' && detail['type'].startsWith('message.');
    return isText && detail['text'] === undefined ? { ...detail, text } : { ...detail };
  });
}

/**
 * A thought as Claude's own vendor takes it back, also one whose text was kept from the caller here. None for one of another vendor, or
 * one that nobody has sealed.
 */
export function nativeThoughts(block: JsonObject): readonly JsonObject[] {
  const { type, signature, data } = block;
  if (type === 'redacted_thinking') return typeof data === 'string' && data !== '' ? [block] : [];
  if (typeof signature !== 'string' || signature === '') return [];
  if (!signature.startsWith(PREFIX)) return [block];
  return detailsOf(block, 0).flatMap((detail): readonly JsonObject[] => {
    const { text = '', signature: own } = detail;
    const hidden = hiddenData(detail);
    if (hidden !== undefined) return [{ type: 'redacted_thinking', data: hidden }];
    const isOwn = detail['format'] === CLAUDE && typeof own === 'string' && own !== '';
    return isOwn ? [{ type: 'thinking', thinking: text, signature: own }] : [];
  });
}

/** Anybody can put a signature together, so it is held to what a body is: its depth, and the numbers and names in it. */
function unpacked(signature: string): readonly JsonObject[] | undefined {
  if (!signature.startsWith(PREFIX)) return undefined;
  const json = Buffer.from(signature.slice(PREFIX.length), 'base64url');
  const read = parseBody(Buffer.concat([HEAD, json, TAIL]));
  const details = read instanceof Refusal ? undefined : read['details'];
  return Array.isArray(details) ? details.filter(isJsonObject).slice(0, DETAILS_MAX) : [];
}

const HEAD = Buffer.from('{"details":');
const TAIL = Buffer.from('}');
