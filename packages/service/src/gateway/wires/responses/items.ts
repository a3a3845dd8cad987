import type { AskedBy } from '#gateway/call/wire.ts';
import type { ValueFault } from '#gateway/request/parameter-values.ts';
import { misshapen } from '#gateway/request/parse-body.ts';
import type { SealedIds } from '#gateway/wires/responses/sealed-ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';

/** An item of the input. */
export interface Item {
  /** Its place in the input. */
  readonly place: number;
  /** The item itself. In place of a reference, the item that it means. */
  readonly item: JsonObject;
}

/** So much JSON may come out of all ids of a request. An id that is a kilobyte long may open to a thousand times of that. */
const OPENED_BYTES_MAX = 16 * 1024 * 1024;
/** So many ids are tried: each takes about 20 us, and nobody else is served meanwhile. */
const TRIED_MAX = 4_096;

/**
 * The items of an input, with references replaced by what they mean (WI-05). Carriers are nothing themselves, and an item that is
 * referred to twice is there once.
 */
export function resolveItems(
  input: readonly unknown[],
  sealedIds: SealedIds,
  by: AskedBy,
): readonly Item[] | Refusal<'BAD_REQUEST'> {
  const fault = firstNoObject(input);
  if (fault !== undefined) return misshapen(fault);
  const given = input as readonly JsonObject[];
  const ids = openIds(given, sealedIds, by);
  if (ids === undefined) return tooMuch();
  const items: Item[] = [];
  const used = new Set<string>();
  for (const [place, item] of given.entries()) {
    const { id } = item;
    const isKnown = typeof id === 'string' && isOpened(item);
    if (isKnown && ids.carriers.has(id)) continue;
    const opened = isKnown ? ids.items.get(id) : undefined;
    if (isReference(item)) {
      if (opened === undefined) return unknownReference(place);
      if (used.has(String(id))) continue;
      used.add(String(id));
      items.push({ place, item: opened });
    } else items.push({ place, item: isBareReasoning(item) && opened?.['type'] === 'reasoning' ? opened : item });
  }
  return items;
}

function firstNoObject(input: readonly unknown[]): ValueFault | undefined {
  const place = input.findIndex((item) => !isJsonObject(item));
  return place === -1 ? undefined : { path: `input[${place}]`, expects: 'an object: an item of a conversation' };
}

interface OpenedIds {
  readonly carriers: ReadonlySet<string>;
  readonly items: ReadonlyMap<string, JsonObject>;
}

/** Opens the ids that stand for something. Undefined if more comes out of them than a body may have. */
function openIds(given: readonly JsonObject[], sealedIds: SealedIds, by: AskedBy): OpenedIds | undefined {
  const carriers = new Set<string>();
  const items = new Map<string, JsonObject>();
  const tried = new Set<string>();
  let bytes = 0;
  for (const item of given) {
    const { id } = item;
    if (typeof id !== 'string' || !isOpened(item) || items.has(id) || tried.has(id)) continue;
    if (tried.add(id).size > TRIED_MAX) return undefined;
    const opened = sealedIds.open(id, by);
    if (opened === undefined) continue;
    bytes += opened.bytes;
    if (bytes > OPENED_BYTES_MAX) return undefined;
    if (opened.item !== undefined) items.set(id, opened.item);
    if (opened.items === undefined) continue;
    carriers.add(id);
    for (const [shortId, carried] of Object.entries(opened.items)) items.set(shortId, carried);
  }
  return { carriers, items };
}

/** The ids of other items say nothing that is needed. */
function isOpened(item: JsonObject): boolean {
  return isReference(item) || isBareReasoning(item);
}

/** The type of a reference may be left out. */
function isReference({ type, role, id }: JsonObject): boolean {
  return type === 'item_reference' || ((type === undefined || type === null) && role === undefined && id !== undefined);
}

/** Reasoning that comes back without its seal. No vendor takes it, but its id may have the seal. */
function isBareReasoning({ type, encrypted_content: content }: JsonObject): boolean {
  return type === 'reasoning' && typeof content !== 'string';
}

function unknownReference(place: number): Refusal<'BAD_REQUEST'> {
  const param = `input[${place}].id`;
  const message =
    `\`${param}\` refers to an item that is not known here: no items are stored, and an id stands for its item only ` +
    'where this service gave it to the same user. Send the item whole: most clients do so after `"store": false`.';
  return refuse('BAD_REQUEST', message, { param });
}

function tooMuch(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', '`input` refers to more items than a request may have: send fewer of them.', {
    param: 'input',
  });
}
