import { KIND_OF_DELTA } from '#gateway/wires/responses/items/parts.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** No honest answer has as many items. */
const NUMBERS_MAX = 4_096;

/** A number that can stand in a list: what a vendor sends in its place may be anything. */
export function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < NUMBERS_MAX;
}

/**
 * Gives each event of a vendor the number of its item, which clients need. Vendors name the item by its number, by its id, or not at all:
 * then it is the newest one. `isOpen`: whether the item of a number has begun and not ended.
 */
export function createItemNumbers(isOpen: (outputIndex: number) => boolean) {
  const ofIds = new Map<unknown, number>();
  let [newest, next] = [0, 0];

  function numberFor(event: JsonObject, id: unknown): number {
    const { type, output_index: index } = event;
    if (isPlace(index)) return index;
    const known = ofIds.get(id);
    if (known !== undefined) return known;
    return type !== 'response.output_item.added' && isOpen(newest) ? newest : next;
  }

  return (event: JsonObject): JsonObject => {
    const { type, item, item_id: itemId, output_index: index } = event;
    const hasItem = isJsonObject(item);
    if (index === undefined && !hasItem && typeof itemId !== 'string' && !KIND_OF_DELTA.has(type)) return event;
    const id = hasItem ? item['id'] : itemId;
    newest = numberFor(event, id);
    next = Math.max(next, newest + 1);
    if (hasItem && typeof id === 'string') ofIds.set(id, newest);
    return newest === index ? event : { ...event, output_index: newest };
  };
}

/** Which number says the text of an item that an event is for, and the event that begins such a text. */
const TEXTS = [
  [/^response\.(?:content_part|output_text|refusal|reasoning_text)\./, 'content_index', 'response.content_part.added'],
  [/^response\.reasoning_summary_(?:part|text)\./, 'summary_index', 'response.reasoning_summary_part.added'],
] as const;

/** Gives each event of a vendor the number of its text where it has none: that of the newest of its item. Such vendors leave out more. */
export function createTextNumbers() {
  const begun = new Map<string, number>();

  return (event: JsonObject): JsonObject => {
    const { type, content_index: content, summary_index: summary } = event;
    if (typeof type !== 'string' || isPlace(content) || isPlace(summary)) return event;
    const [, name, beginning] = TEXTS.find(([types]) => types.test(type)) ?? [];
    if (name === undefined) return event;
    const key = `${name} ${String(event['output_index'])}`;
    const count = (begun.get(key) ?? 0) + (type === beginning ? 1 : 0);
    begun.set(key, count);
    return { ...event, ...missingIn(event, type), [name]: Math.max(count - 1, 0) };
  };
}

/** The lists that the vendor's types demand of a text. */
function missingIn({ part, logprobs }: JsonObject, type: string): JsonObject {
  const isText = type.startsWith('response.output_text.');
  const hasText = isJsonObject(part) && part['type'] === 'output_text';
  return {
    ...(isText && logprobs === undefined ? { logprobs: [] } : {}),
    ...(hasText ? { part: { annotations: [], ...part } } : {}),
  };
}

/** The items of a whole output by the numbers that events gave them, and those that no event told of. */
export interface Matched {
  readonly wholes: ReadonlyMap<number, JsonObject>;
  readonly untold: readonly JsonObject[];
}

/**
 * Finds an item by its id or that of its call, and the others by their order among those of their type: some vendors write another id into
 * each event. What is told twice is done twice by an agent.
 */
export function matchedItems(output: readonly JsonObject[], told: ReadonlyMap<number, JsonObject>): Matched {
  const isAlike = output.length === told.size && output.every((item, place) => hasIdOf(item, told.get(place)));
  if (isAlike) return { wholes: new Map(output.entries()), untold: [] };
  const numbers = new Map<string, number>();
  for (const [outputIndex, item] of told) for (const name of namesOf(item)) numbers.set(name, outputIndex);
  const wholes = new Map<number, JsonObject>();
  const others: JsonObject[] = [];
  for (const item of output) {
    const name = namesOf(item).find((one) => numbers.has(one));
    if (name === undefined) others.push(item);
    else wholes.set(numbers.get(name) ?? 0, item);
  }
  const left = new Map<unknown, number[]>();
  for (const [outputIndex, { type }] of [...told].toSorted(([one], [other]) => other - one)) {
    if (wholes.has(outputIndex)) continue;
    const ofType = left.get(type);
    if (ofType === undefined) left.set(type, [outputIndex]);
    else ofType.push(outputIndex);
  }
  const untold = others.filter((item) => {
    const outputIndex = left.get(item['type'])?.pop();
    if (outputIndex !== undefined) wholes.set(outputIndex, item);
    return outputIndex === undefined;
  });
  return { wholes, untold };
}

function hasIdOf({ id }: JsonObject, other: JsonObject | undefined): boolean {
  return typeof id === 'string' && id !== '' && id === other?.['id'];
}

function namesOf({ id, call_id: callId }: JsonObject): readonly string[] {
  return [id, callId].flatMap((name, place) => (typeof name === 'string' && name !== '' ? [`${place} ${name}`] : []));
}
