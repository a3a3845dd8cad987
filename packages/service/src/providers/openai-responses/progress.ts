import type { JsonObject } from '#kernel/text/json.ts';
import { isCall } from '#providers/openai-responses/output-items.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** No honest answer has as many items. Each event is looked for among all that are open. */
const ITEMS_MAX = 2_048;

/** How far one item of the output has come. */
export interface Item {
  /** Its place in the output. */
  readonly place: number;
  readonly outputIndex: number | undefined;
  readonly id: string | undefined;
  type: string;
  isDone: boolean;
  /** Of a call: whether its name was told, and how much of its input. */
  isNamed: boolean;
  inputSent: number;
  /** Of reasoning: which of its texts is told, how much of it was, and whether its seal was. */
  thoughts: 'summary' | 'text' | undefined;
  thoughtsSent: number;
  isSealed: boolean;
}

/**
 * The items of one stream. Vendors name the item of an event by its place, by its id, by both, or not at all, and some write another id
 * into each event: the place counts first.
 */
export function createItems() {
  const items: Item[] = [];
  let isLastSaying = false;

  function find({ output_index: index, item_id: id }: JsonObject): Item | undefined {
    if (isIndexed(index)) return items.findLast((one) => one.outputIndex === index);
    return typeof id === 'string' ? items.findLast((one) => one.id === id) : undefined;
  }

  /** Whether an event says where its item stands, and others have said so too. */
  function isIndexed(index: unknown): boolean {
    return typeof index === 'number' && items.some(({ outputIndex }) => outputIndex !== undefined);
  }

  function newestOf({ output_index: index }: JsonObject, type: string): Item | undefined {
    return isIndexed(index) ? undefined : items.findLast((one) => one.type === type && !one.isDone);
  }

  function add(event: JsonObject, type: string): Item {
    const { output_index: index, item_id: id } = event;
    const item: Item = {
      place: typeof index === 'number' ? index : items.length,
      outputIndex: typeof index === 'number' ? index : undefined,
      id: typeof id === 'string' ? id : undefined,
      type,
      isDone: false,
      isNamed: false,
      inputSent: 0,
      thoughts: undefined,
      thoughtsSent: 0,
      isSealed: false,
    };
    if (items.push(item) > ITEMS_MAX) {
      throw new UpstreamError('too-large', 'The provider sent more items than an answer can have.');
    }
    return item;
  }

  return {
    /** The item that an event is about. It begins with the first event about it, of any type. */
    of: (event: JsonObject, type: string): Item => find(event) ?? newestOf(event, type) ?? add(event, type),
    /** The item that an event holds. `isBegun`: an earlier event may have told of it. */
    ofItem: (event: JsonObject, given: JsonObject, isBegun: boolean): Item => {
      const named = { ...event, item_id: given['id'] };
      const type = String(given['type']);
      const item = find(named) ?? (isBegun ? newestOf(named, type) : undefined) ?? add(named, type);
      item.type = type;
      return item;
    },
    /** The item of a whole output: by its id, else by its place among those of its type. */
    ofOutput: (given: JsonObject, placeOfType: number): Item => {
      const type = String(given['type']);
      const same = items.filter((one) => one.type === type);
      const item = same.find((one) => one.id !== undefined && one.id === given['id']) ?? same[placeOfType];
      return item ?? add({ item_id: given['id'] }, type);
    },
    done: (item: Item, given: JsonObject): void => {
      item.isDone = true;
      // Behind a commentary comes what it comments on.
      isLastSaying = isCall(given) || (given['type'] === 'message' && given['phase'] !== 'commentary');
    },
    /** All items that began are whole, and the last one is no preparation for another. */
    isWhole: () => items.length > 0 && isLastSaying && items.every(({ isDone }) => isDone),
  };
}
