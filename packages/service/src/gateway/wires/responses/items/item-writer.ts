import type { Events } from '#gateway/wires/responses/items/events.ts';

export type ItemStatus = 'completed' | 'incomplete';

/** An item of an answer, from its first event to its last. */
export interface OpenItem {
  readonly id: string;
  readonly outputIndex: number;
}

/** Numbers the items of one answer, and writes their first and their last event. An item is JSON. */
export interface ItemWriter {
  readonly next: (prefix: string) => OpenItem;
  readonly added: (item: OpenItem, json: string) => string;
  readonly done: (item: OpenItem, json: string) => string;
  /** The finished items, in their order. */
  readonly finished: readonly string[];
}

export function createItemWriter(events: Events, idBase: string): ItemWriter {
  const finished: string[] = [];
  let items = 0;
  return {
    next: (prefix) => {
      const outputIndex = items;
      items += 1;
      return { id: `${prefix}_${idBase}${outputIndex}`, outputIndex };
    },
    added: ({ outputIndex }, json) => itemEvent(events, 'added', outputIndex, json),
    done: ({ outputIndex }, json) => {
      finished[outputIndex] = json;
      return itemEvent(events, 'done', outputIndex, json);
    },
    finished,
  };
}

export function itemEvent(events: Events, name: 'added' | 'done', outputIndex: number, json: string): string {
  return events.write(`response.output_item.${name}`, `,"output_index":${outputIndex},"item":${json}`);
}
