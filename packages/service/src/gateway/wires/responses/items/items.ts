import type { Echo, Sealing } from '#gateway/wires/responses/conversation/echo.ts';
import type { Events } from '#gateway/wires/responses/items/events.ts';
import { createCallItems } from '#gateway/wires/responses/items/call-items.ts';
import { createItemWriter, type ItemStatus } from '#gateway/wires/responses/items/item-writer.ts';
import { createMessages } from '#gateway/wires/responses/items/message-items.ts';
import type { Part } from '#gateway/wires/responses/items/parts.ts';
import { pictureItem } from '#gateway/wires/responses/items/pictures.ts';
import type { OutputPart } from '#gateway/output/output-parts.ts';
import { createThoughts } from '#gateway/wires/responses/items/thought-items.ts';
import type { JsonObject } from '#kernel/text/json.ts';

/** The items of an answer that are made from what a model says. */
export interface AnswerItems {
  /** The frames of something said. `tokens` are those of a text. */
  readonly take: (said: OutputPart, tokens: readonly JsonObject[]) => string;
  /** The part that this makes longer by `text`. Undefined if that is not all that it does. */
  readonly partFor: (said: OutputPart, text: string) => Part | undefined;
  /** Ends all items that are open. */
  readonly end: (status: ItemStatus) => string;
  /** The finished items as JSON, in their order. */
  readonly finished: () => readonly string[];
}

/**
 * A message or a thought ends when something else begins. Calls end with the answer, because pieces of several may come in turn.
 */
export function createAnswerItems(events: Events, idBase: string, { tools }: Echo, sealing: Sealing): AnswerItems {
  const writer = createItemWriter(events, idBase);
  const messages = createMessages(events, writer);
  const thoughts = createThoughts(events, writer, sealing);
  const calls = createCallItems(events, writer, tools);

  function takePicture(address: string): string {
    const picture = pictureItem(address);
    if (picture === undefined) return '';
    const item = writer.next('ig');
    const { id } = item;
    const begun = writer.added(item, JSON.stringify({ id, ...picture, status: 'in_progress', result: null }));
    return begun + writer.done(item, JSON.stringify({ id, ...picture }));
  }

  return {
    take: (said, tokens) => {
      switch (said.kind) {
        case 'thought':
          return messages.end('completed') + thoughts.take(said);
        case 'citation':
          return messages.cite(said.annotation);
        case 'picture':
          return takePicture(said.address);
        case 'call':
          return thoughts.end() + messages.end('completed') + calls.take(said);
        case 'text':
        case 'refusal':
          return thoughts.end() + messages.take(said.kind, said.text, tokens);
      }
    },
    partFor: (said, text) => {
      switch (said.kind) {
        case 'thought':
          return thoughts.partFor(said, text);
        case 'call':
          return calls.partFor(said, text);
        case 'text':
        case 'refusal':
          return said.text === text ? messages.partFor(said.kind) : undefined;
        case 'citation':
        case 'picture':
          return undefined;
      }
    },
    end: (status) => thoughts.end() + messages.end(status) + calls.end(status) + thoughts.seal(calls.extras()),
    finished: () => writer.finished,
  };
}
