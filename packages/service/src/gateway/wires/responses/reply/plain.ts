import type { ReplyCall, ToldUsage } from '#gateway/call/wire.ts';
import type { Echo, Sealing } from '#gateway/wires/responses/conversation/echo.ts';
import { NO_EVENTS } from '#gateway/wires/responses/items/events.ts';
import { tokensOf } from '#gateway/wires/responses/items/fields.ts';
import { createAnswerItems } from '#gateway/wires/responses/items/items.ts';
import {
  endingOf,
  responseHead,
  responseUsage,
  vendorFields,
  outputOf,
} from '#gateway/wires/responses/reply/response.ts';
import { carriedItem } from '#gateway/wires/responses/items/pictures.ts';
import { createOutputReader } from '#gateway/output/output-parts.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';

interface Told {
  readonly completion: Completion;
  readonly usage: ToldUsage;
}

/** A whole Response. */
export function plainReply(
  call: ReplyCall,
  { completion, usage }: Told,
  { echo, sealing }: { readonly echo: Echo; readonly sealing: Sealing },
): JsonObject {
  const { native, choices } = completion;
  const head = responseHead(call, echo);
  const told = { usage: responseUsage(usage) };
  if (native !== undefined) {
    const output = outputOf(native).map((item) => sealedItem(item, sealing));
    return { ...head, ...vendorFields(native), output, ...told };
  }
  const [choice] = choices;
  const ending = endingOf(choice?.finish_reason ?? null);
  const items = createAnswerItems(NO_EVENTS, call.callId.replaceAll('-', ''), echo, sealing);
  const tokens = tokensOf(choice?.['logprobs']);
  for (const said of createOutputReader()(choice?.message ?? {})) items.take(said, said.kind === 'text' ? tokens : []);
  items.end(ending.status);
  const output = items.finished().map((text) => madeItem(JSON.parse(text) as JsonObject, sealing));
  return { ...head, ...ending, output, ...told };
}

/** An item that was made here. Its first id says nothing, so it is not carried. */
function madeItem({ id, ...item }: JsonObject, sealing: Sealing): JsonObject {
  return { ...item, id: idFor(item, sealing) ?? id };
}

/** A vendor's own item. Its id belongs to what the vendor has sealed in it, so it is carried too. */
function sealedItem(item: JsonObject, sealing: Sealing): JsonObject {
  return { ...item, id: idFor(item, sealing) ?? item['id'] };
}

/** An id that carries the item. Calls of functions come back whole, and keep theirs. */
function idFor(item: JsonObject, { isStored, ofItem }: Sealing): string | undefined {
  return isStored && item['type'] !== 'function_call' ? ofItem(carriedItem(item)) : undefined;
}
