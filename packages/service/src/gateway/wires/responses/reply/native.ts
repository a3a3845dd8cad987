import { isShortFrame } from '#gateway/output/frame-length.ts';
import { escapedOf, type Events, markedVendorEvent } from '#gateway/wires/responses/items/events.ts';
import { type FrameTemplate, templateOf } from '#gateway/wires/responses/items/event-template.ts';
import {
  createItemNumbers,
  createTextNumbers,
  isPlace,
  matchedItems,
} from '#gateway/wires/responses/reply/native-numbers.ts';
import { itemEvent, type ItemStatus } from '#gateway/wires/responses/items/item-writer.ts';
import { outputOf } from '#gateway/wires/responses/reply/response.ts';
import {
  createPart,
  endPart,
  KIND_OF_DELTA,
  KIND_OF_DONE,
  type Part,
  partJson,
} from '#gateway/wires/responses/items/parts.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

/** Relays the events of a vendor who speaks this wire, and keeps what an end of ours needs. */
export interface NativeRelay {
  /** `source`: the text of the event as it came. */
  readonly relay: (event: JsonObject, source: string | undefined) => string;
  /** How runs of an event are written, and the part that they make longer. Undefined if that is not certain. */
  readonly runOf: (marked: JsonObject, marks: readonly string[]) => NativeRun | undefined;
  /** Ends the items that are open. */
  readonly cut: (status: ItemStatus) => string;
  /** The same behind the vendor's last event, and tells of the items that only its Response has. */
  readonly end: (status: ItemStatus) => string;
  /** The vendor's last Response. Undefined if the stream had none. */
  readonly last: () => JsonObject | undefined;
  /** The finished items as JSON, in their order. */
  readonly finished: () => readonly string[];
  /** The number behind that of the last item. */
  readonly count: () => number;
}

interface NativeRun {
  readonly template: FrameTemplate;
  readonly part: Part;
}

interface OpenItem {
  readonly item: JsonObject;
  /** The texts by their kind and number, and those that have not ended. */
  readonly parts: Map<string, Part>;
  readonly open: Set<Part>;
}

export function createNativeRelay(events: Events): NativeRelay {
  const items = createNativeItems(events);
  let last: JsonObject | undefined;

  function asItCame({ delta, sequence_number: number }: JsonObject, source: string | undefined): string | undefined {
    const isShort = typeof delta !== 'string' || isShortFrame(delta);
    return source === undefined || !isShort ? undefined : events.asTheyCame(source, number, 1);
  }

  return {
    relay: (event, source) => {
      const { type, response } = event;
      if (type === 'response.completed' || type === 'response.incomplete') {
        if (isJsonObject(response)) last = response;
        return '';
      }
      if (typeof type !== 'string' || OURS.has(type)) return '';
      const numbered = items.numbered(event);
      const json = items.follow(numbered, type);
      const came = numbered === event ? asItCame(event, source) : undefined;
      if (came !== undefined) return came;
      if (json === undefined) return events.relay(numbered);
      return itemEvent(events, 'done', Number(numbered['output_index']), json);
    },
    runOf: (marked, marks) => {
      const part = hasNumbers(marked) ? items.partOf(marked) : undefined;
      const template = part && templateOf(markedVendorEvent(marked), marks);
      return template && { template, part };
    },
    cut: (status) => items.end({ status, output: [] }),
    end: (status) => items.end({ status, output: outputOf(last) }),
    last: () => last,
    finished: items.finished,
    count: items.count,
  };
}

/** The beginning and the end of a stream are ours, because they name the model, the call and the charge. */
const OURS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.failed',
  'error',
]);

/** Follows the texts of the items that are open. */
function createNativeTexts(open: ReadonlyMap<number, OpenItem>) {
  /** The text that a delta goes on with. */
  function partOf(event: JsonObject): Part | undefined {
    const kind = KIND_OF_DELTA.get(event['type']);
    const outputIndex = Number(event['output_index']);
    const item = kind && open.get(outputIndex);
    if (kind === undefined || item === undefined) return undefined;
    const key = keyOf(kind, event);
    const known = item.parts.get(key);
    if (known !== undefined) return known;
    const { item_id: id } = event;
    const itemId = typeof id === 'string' ? id : '';
    const part = createPart(kind, { itemId, outputIndex, index: numberOf(event) });
    item.parts.set(key, part);
    item.open.add(part);
    return part;
  }

  /** Notes that a text has ended, so that a cut does not end it again. */
  function endText(event: JsonObject, type: string): void {
    const kind = KIND_OF_DONE.get(type);
    const item = kind && open.get(Number(event['output_index']));
    const part = item?.parts.get(keyOf(kind, event));
    if (part !== undefined) item?.open.delete(part);
  }

  return { partOf, endText };
}

/** How the items end that are open, and all of them if the vendor has said so. */
interface NativeEnd {
  readonly status: ItemStatus;
  readonly output: readonly JsonObject[];
}

/** An item that has ended. Only its JSON is kept: it may be long, and is written again at the end. */
interface FinishedItem {
  /** Its type and its ids, by which it is known again. */
  readonly known: JsonObject;
  readonly json: string;
}

/** Follows the items of a vendor's stream. */
function createNativeItems(events: Events) {
  const open = new Map<number, OpenItem>();
  const finished: (FinishedItem | undefined)[] = [];
  const { partOf, endText } = createNativeTexts(open);
  const ofItem = createItemNumbers((outputIndex) => open.has(outputIndex));
  const ofText = createTextNumbers();

  /** Returns the item that an event ends, as JSON. */
  function follow(event: JsonObject, type: string): string | undefined {
    const { item, output_index: index, delta } = event;
    if (typeof delta === 'string') {
      const part = partOf(event);
      if (part !== undefined) part.escaped += escapedOf(delta);
    } else if (type === 'response.output_item.added') {
      if (isJsonObject(item)) open.set(Number(index), { item, parts: new Map(), open: new Set() });
    } else if (type === 'response.output_item.done') {
      open.delete(Number(index));
      if (isJsonObject(item)) return finish(Number(index), item);
    } else endText(event, type);
    return undefined;
  }

  function finish(outputIndex: number, item: JsonObject): string {
    const json = JSON.stringify(item);
    const { type, id, call_id } = item;
    finished[outputIndex] = { known: { type, id, call_id }, json };
    return json;
  }

  function done(outputIndex: number, item: JsonObject): string {
    return itemEvent(events, 'done', outputIndex, finish(outputIndex, item));
  }

  function endItem(outputIndex: number, status: ItemStatus, whole: JsonObject | undefined): string {
    const { item, parts, open: unended } = open.get(outputIndex) as OpenItem;
    let frames = '';
    for (const part of unended) frames += endPart(events, part);
    const ended = 'status' in item ? { status } : {};
    // Clients know it by the id that it began with.
    const named = item['id'] === undefined ? {} : { id: item['id'] };
    const made = whole ?? { ...item, ...textsOf([...parts.values()]), ...ended };
    return frames + done(outputIndex, { ...made, ...named });
  }

  /** Vendors leave out events, and some clients read nothing but these. */
  function tellOf(item: JsonObject): string {
    const outputIndex = finished.length;
    return itemEvent(events, 'added', outputIndex, JSON.stringify(item)) + done(outputIndex, item);
  }

  return {
    partOf,
    follow,
    numbered: (event: JsonObject) => ofText(ofItem(event)),
    end: ({ status, output }: NativeEnd): string => {
      const { wholes, untold } = matchedItems(output, toldItems(finished, open));
      let frames = '';
      for (const outputIndex of open.keys()) frames += endItem(outputIndex, status, wholes.get(outputIndex));
      open.clear();
      for (const item of untold) frames += tellOf(item);
      return frames;
    },
    finished: () => finished.flatMap((item) => item?.json ?? []),
    count: () => finished.length,
  };
}

/** The items that events have told of, by their numbers. */
function toldItems(
  finished: readonly (FinishedItem | undefined)[],
  open: ReadonlyMap<number, OpenItem>,
): ReadonlyMap<number, JsonObject> {
  const told = new Map<number, JsonObject>();
  for (const [outputIndex, item] of finished.entries()) if (item !== undefined) told.set(outputIndex, item.known);
  for (const [outputIndex, { item }] of open) told.set(outputIndex, item);
  return told;
}

/** Whether an event of a delta has the numbers that it needs. */
function hasNumbers({ type, output_index: item, content_index: content, summary_index: summary }: JsonObject): boolean {
  const kind = KIND_OF_DELTA.get(type);
  const isWhole = kind === 'arguments' || kind === 'input';
  return isPlace(item) && (isWhole || isPlace(content) || isPlace(summary));
}

function keyOf(kind: string | undefined, event: JsonObject): string {
  return `${kind} ${numberOf(event)}`;
}

function numberOf({ content_index: content, summary_index: summary }: JsonObject): number {
  const place = content ?? summary;
  return isPlace(place) ? place : 0;
}

/** The members of an item that its texts are in. */
function textsOf(parts: readonly Part[]): JsonObject {
  const content = parts.filter(({ kind }) => kind === 'text' || kind === 'refusal' || kind === 'thinking');
  const summary = parts.filter(({ kind }) => kind === 'summary');
  const [words] = parts.filter(({ kind }) => kind === 'arguments' || kind === 'input');
  return {
    ...(content.length === 0 ? {} : { content: content.map(jsonOf) }),
    ...(summary.length === 0 ? {} : { summary: summary.map(jsonOf) }),
    ...(words === undefined ? {} : { [words.kind]: JSON.parse(`"${words.escaped}"`) as unknown }),
  };
}

function jsonOf(part: Part): unknown {
  return JSON.parse(partJson(part));
}
