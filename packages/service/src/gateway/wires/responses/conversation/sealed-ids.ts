import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { AskedBy } from '#gateway/call/wire.ts';
import { hmacSha256, seal, unsealBytes } from '#kernel/crypto/crypto.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Keys } from '#kernel/crypto/keys.ts';

/** Those to whom a sealed text belongs. Nobody else opens it. */
type Owner = Pick<AskedBy, 'appId' | 'mode' | 'userId'>;

/** What an id carries: an item, or several under the short ids that they were given in a stream. */
export interface Opened {
  /** The length of its JSON. */
  readonly bytes: number;
  readonly item?: JsonObject;
  readonly items?: Readonly<Record<string, JsonObject>>;
}

/**
 * Ids that carry their items (WI-05). Some clients believe that items are stored, and send the id alone in the next request. Nothing is
 * stored here: an id is the item itself, compressed and sealed, and opens for the same user of the same app in the same mode.
 */
export interface SealedIds {
  /** An id that carries the item. Undefined if the item is too large for an id. */
  readonly ofItem: (item: JsonObject, owner: Owner) => string | undefined;
  /** The id of a carrier: of an item that is nothing itself, and has those of a stream by their short ids. */
  readonly ofItems: (items: Readonly<Record<string, JsonObject>>, owner: Owner) => string | undefined;
  /** What an id carries. Undefined if it is not from here, was altered, or belongs to somebody else. */
  readonly open: (id: string, owner: Owner) => Opened | undefined;
  /** Reasoning of a vendor who does not speak this wire, as the `encrypted_content` of an item. Undefined if it is too large. */
  readonly ofThoughts: (details: readonly JsonObject[], owner: Owner) => string | undefined;
  /** The reasoning in an `encrypted_content` from here. Undefined as for `open`. */
  readonly openThoughts: (content: string, owner: Owner) => OpenedThoughts | undefined;
  /** Whether an `encrypted_content` is from here, so that vendors of this wire could do nothing with it. */
  readonly isThoughts: (content: string) => boolean;
}

/** Clients returned ids of 4,000 characters whole. Nobody has a reason to shorten one, but a request holds many. */
const SEALED_CHARACTERS_MAX = 512 * 1024;
/** So much JSON is in one id. A model that repeats itself is compressed a thousand times, and opens to no more than this. */
const OPENED_BYTES_MAX = 2 * 1024 * 1024;
/** Ids of vendors have at most so many characters, and ours have more: nonce and tag alone fill 38. */
export const PLAIN_ID_CHARACTERS_MAX = 64;

/** The first characters of an id. Libraries tell the kind of an item by them. */
const PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ['reasoning', 'rs_'],
  ['function_call', 'fc_'],
  ['custom_tool_call', 'ctc_'],
]);
const MESSAGE_PREFIX = 'msg_';
const CARRIER_PREFIX = 'rs_';
const SEALED_ID = /^(?:msg|rs|fc|ctc)_([A-Za-z0-9_-]+)$/;
const THOUGHTS_PREFIX = 'purser.';

/** The database keeps the key: after a change of `PURSER_SECRET`, conversations go on. */
export function createSealedIds(keys: Keys): SealedIds {
  const key = keys.kept('item-ids');
  return {
    ofItem: (item, owner) => sealed(key, headOf('id', owner), { item }, PREFIXES.get(item['type']) ?? MESSAGE_PREFIX),
    ofItems: (items, owner) => sealed(key, headOf('id', owner), { items }, CARRIER_PREFIX),
    open: (id, owner) => {
      if (id.length <= PLAIN_ID_CHARACTERS_MAX) return undefined;
      const text = SEALED_ID.exec(id)?.[1];
      return text === undefined ? undefined : opened(key, headOf('id', owner), text);
    },
    ofThoughts: (details, owner) => sealed(key, headOf('thoughts', owner), { details }, THOUGHTS_PREFIX),
    openThoughts: (content, owner) => {
      if (!content.startsWith(THOUGHTS_PREFIX)) return undefined;
      const { details, bytes } = opened(key, headOf('thoughts', owner), content.slice(THOUGHTS_PREFIX.length)) ?? {};
      return details === undefined || bytes === undefined ? undefined : { details, bytes };
    },
    isThoughts: (content) => content.startsWith(THOUGHTS_PREFIX),
  };
}

interface OpenedThoughts {
  /** The length of its JSON. */
  readonly bytes: number;
  readonly details: readonly JsonObject[];
}

interface Thoughts {
  readonly details?: readonly JsonObject[];
}

function headOf(use: 'id' | 'thoughts', { appId, mode, userId }: Owner): Buffer {
  return Buffer.from(JSON.stringify([use, appId, mode, userId]));
}

/** Each user has a key of their own, so that no key seals more texts than random nonces are good for. */
function sealed(key: Buffer, head: Buffer, content: JsonObject, prefix: string): string | undefined {
  const plain = Buffer.from(JSON.stringify(content));
  if (plain.length > OPENED_BYTES_MAX) return undefined;
  // Level 1 takes half the time of the usual one, for an id that is 4 % longer.
  const text = prefix + seal(hmacSha256(key, head), head, deflateRawSync(plain, { level: 1 })).toString('base64url');
  return text.length > SEALED_CHARACTERS_MAX ? undefined : text;
}

/** What was sealed is ours, so its form needs no check. */
function opened(key: Buffer, head: Buffer, text: string): (Opened & Thoughts) | undefined {
  if (text.length > SEALED_CHARACTERS_MAX) return undefined;
  try {
    const sealedBytes = unsealBytes(hmacSha256(key, head), head, Buffer.from(text, 'base64url'));
    const plain = inflateRawSync(sealedBytes, { maxOutputLength: OPENED_BYTES_MAX });
    return { ...(JSON.parse(plain.toString('utf8')) as Omit<Opened, 'bytes'> & Thoughts), bytes: plain.length };
  } catch {
    return undefined; // From elsewhere, altered, or of somebody else.
  }
}
