import type { ValueFault } from '#gateway/parameters/values.ts';
import { misshapen } from '#gateway/body/parse-body.ts';
import type { Opener } from '#gateway/wires/responses/conversation/opener.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** An item of the input. */
export interface Item {
  /** Its place in the input. */
  readonly place: number;
  /** The item itself. In place of a reference, the item that it means. */
  readonly item: JsonObject;
}

/**
 * The items of an input, with references replaced by what they mean (WI-05). Carriers are nothing themselves, and an item that is
 * referred to twice is there once.
 */
export function resolveItems(input: readonly unknown[], opener: Opener): readonly Item[] | Refusal<'BAD_REQUEST'> {
  const fault = firstNoObject(input);
  if (fault !== undefined) return misshapen(fault);
  const given = input as readonly JsonObject[];
  const ids = openIds(given, opener);
  const items: Item[] = [];
  const used = new Set<string>();
  for (const [place, item] of given.entries()) {
    const { id } = item;
    const isKnown = typeof id === 'string' && isOpened(item);
    if (isKnown && ids.carriers.has(id)) continue;
    const opened = isKnown ? ids.items.get(id) : undefined;
    if (isReference(item) && opened === undefined) return opener.isSpent() ? tooMuch() : unknownReference(place);
    if (opened === undefined || (isBareReasoning(item) && opened['type'] !== 'reasoning')) items.push({ place, item });
    else if (!used.has(String(id))) items.push({ place, item: opened });
    if (opened !== undefined) used.add(String(id));
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

/** Opens the ids that stand for something. */
function openIds(given: readonly JsonObject[], opener: Opener): OpenedIds {
  const carriers = new Set<string>();
  const items = new Map<string, JsonObject>();
  const tried = new Set<string>();
  for (const item of given) {
    const { id } = item;
    if (typeof id !== 'string' || !isOpened(item) || items.has(id) || tried.has(id)) continue;
    tried.add(id);
    const opened = opener.open(id);
    if (opened?.item !== undefined) items.set(id, opened.item);
    if (opened?.items === undefined) continue;
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

export function tooMuch(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', '`input` holds more sealed items than a request may have: send fewer of them.', {
    param: 'input',
  });
}

function unknownReference(place: number): Refusal<'BAD_REQUEST'> {
  const param = `input[${place}].id`;
  const message =
    `\`${param}\` refers to an item that is not known here: no items are stored, and an id stands for its item only ` +
    'where this service gave it to the same user, and the item was not too large for one. Send the item whole: most ' +
    'clients do so after `"store": false`.';
  return refuse('BAD_REQUEST', message, { param });
}
