import type { GivenTool } from '#gateway/wires/responses/conversation/echo.ts';
import { escapedOf, type Events } from '#gateway/wires/responses/items/events.ts';
import { type Call, calledIn, callJson, customInputOf } from '#gateway/wires/responses/items/calls.ts';
import type { ItemStatus, ItemWriter, OpenItem } from '#gateway/wires/responses/items/item-writer.ts';
import { addToPart, createPart, endPart, type Part } from '#gateway/wires/responses/items/parts.ts';
import type { OutputCall } from '#gateway/output/output-parts.ts';
import type { JsonObject } from '#kernel/text/json.ts';

interface OpenCall extends OpenItem {
  readonly call: Call;
  readonly part: Part;
}

/** The calls of tools of an answer. */
export function createCallItems(events: Events, writer: ItemWriter, tools: ReadonlyMap<string, GivenTool>) {
  const calls = new Map<unknown, OpenCall>();
  /** What vendors want back with a call, such as a signature. This wire has no place for it in the call. */
  const extras: JsonObject[] = [];

  function begin(key: unknown, call: Call): readonly [string, OpenCall] {
    const known = calls.get(key);
    if (known !== undefined) return ['', known];
    const [prefix, kind] = call.type === 'function_call' ? (['fc', 'arguments'] as const) : (['ctc', 'input'] as const);
    const item = writer.next(prefix);
    const part = createPart(kind, { itemId: item.id, outputIndex: item.outputIndex, index: 0 });
    const open = { ...item, call, part };
    calls.set(key, open);
    return [writer.added(open, callJson(open.id, call, '', 'in_progress')), open];
  }

  function endCall(open: OpenCall, status: ItemStatus): string {
    const { call, part, id } = open;
    let frames = '';
    if (call.isWrapped) {
      const input = customInputOf(JSON.parse(`"${part.escaped}"`) as string);
      part.escaped = '';
      if (input !== '') frames += addToPart(events, part, input);
    }
    return frames + endPart(events, part) + writer.done(open, callJson(id, call, part.escaped, status));
  }

  return {
    take: ({ call: said, place }: OutputCall): string => {
      const { key, call, words, extra } = calledIn(said, place, tools);
      const [begun, open] = begin(key, call);
      const id = open.call.callId;
      if (extra !== undefined) extras.push({ type: 'tool_call.extra_content', id, extra_content: extra });
      if (words === '') return begun;
      if (!open.call.isWrapped) return begun + addToPart(events, open.part, words);
      open.part.escaped += escapedOf(words);
      return begun;
    },
    partFor: ({ call: said, place }: OutputCall, text: string): Part | undefined => {
      const { key, words, extra, isFirst } = calledIn(said, place, tools);
      const open = words === text && !isFirst && extra === undefined ? calls.get(key) : undefined;
      return open?.call.isWrapped === false ? open.part : undefined;
    },
    end: (status: ItemStatus): string => {
      let frames = '';
      for (const open of calls.values()) frames += endCall(open, status);
      calls.clear();
      return frames;
    },
    /** What has come of it since the last time. */
    extras: (): readonly JsonObject[] => extras.splice(0),
  };
}
