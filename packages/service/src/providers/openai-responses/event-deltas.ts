import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { createMessageDeltas } from '#providers/openai-responses/message-deltas.ts';
import {
  annotationOf,
  BETWEEN_SUMMARIES,
  callOf,
  inputOf,
  isCall,
  outputOf,
  reasoningDetail,
  textIn,
  thoughtsIn,
} from '#providers/openai-responses/output-items.ts';
import { createItems, type Item } from '#providers/openai-responses/progress.ts';

type Deltas = readonly JsonObject[];

/** What the events of one stream say, as deltas of chat completions. */
export interface EventDeltas {
  /** The deltas of an event within the answer. */
  readonly take: (type: string, event: JsonObject) => Deltas;
  /** What a whole output says that no event has said. */
  readonly missing: (response: JsonObject) => Deltas;
  /** All that began is whole, so that nothing but the end can be missing. */
  readonly isWhole: () => boolean;
}

/**
 * Follows one stream. Vendors leave out events: those that announce an item, the deltas, the ends, or all but the last. So it is counted
 * how much has been told, and each later event that has the whole of something gives the rest.
 */
export function createEventDeltas(): EventDeltas {
  const items = createItems();
  const messages = createMessageDeltas();

  function ofItem(event: JsonObject, isDone: boolean): Deltas {
    const { item: given } = event;
    if (!isJsonObject(given)) return [];
    const item = items.ofItem(event, given, isDone);
    if (isDone) items.done(item, given);
    if (isCall(given)) return restOfCall(item, given);
    if (!isDone) return [];
    if (item.type === 'message') return messages.restOf(given);
    return item.type === 'reasoning' ? restOfReasoning(item, given) : [];
  }

  function ofDelta(type: string, event: JsonObject): Deltas {
    const delta = textIn(event, 'delta');
    switch (type) {
      case 'response.output_text.delta':
        items.of(event, 'message');
        return messages.say('content', delta);
      case 'response.refusal.delta':
        items.of(event, 'message');
        return messages.say('refusal', delta);
      case 'response.output_text.annotation.added': {
        const { annotation: given } = event;
        const annotation = isJsonObject(given) ? annotationOf(given, messages.before()) : undefined;
        return annotation === undefined ? [] : messages.cite([annotation]);
      }
      case 'response.function_call_arguments.delta':
        return moreOfCall(items.of(event, 'function_call'), delta, false);
      case 'response.custom_tool_call_input.delta':
        return moreOfCall(items.of(event, 'custom_tool_call'), delta, true);
      case 'response.reasoning_summary_text.delta':
        return thought(items.of(event, 'reasoning'), 'summary', delta);
      case 'response.reasoning_text.delta':
        return thought(items.of(event, 'reasoning'), 'text', delta);
      case 'response.reasoning_summary_part.added': {
        const item = items.of(event, 'reasoning');
        return item.thoughtsSent === 0 ? [] : thought(item, 'summary', BETWEEN_SUMMARIES);
      }
      default:
        return [];
    }
  }

  function missing(response: JsonObject): Deltas {
    messages.again();
    const ofType = new Map<unknown, number>();
    return outputOf(response).flatMap((given) => {
      const { type } = given;
      if (type === 'message') return messages.restOf(given);
      if (type !== 'reasoning' && !isCall(given)) return [];
      const place = ofType.get(type) ?? 0;
      ofType.set(type, place + 1);
      const item = items.ofOutput(given, place);
      return isCall(given) ? restOfCall(item, given) : restOfReasoning(item, given);
    });
  }

  return {
    take: (type, event) => {
      if (type === 'response.output_item.added') return ofItem(event, false);
      return type === 'response.output_item.done' ? ofItem(event, true) : ofDelta(type, event);
    },
    missing,
    isWhole: items.isWhole,
  };
}

/** More of one of the texts of an item of reasoning. Only one of them is told: they say the same. */
function thought(item: Item, name: 'summary' | 'text', text: string): Deltas {
  if (text === '' || (item.thoughts ?? name) !== name) return [];
  item.thoughts = name;
  item.thoughtsSent += text.length;
  const detail = name === 'summary' ? { summary: text } : { text };
  return [{ reasoning_content: text, reasoning_details: [reasoningDetail(item.place, item.id, detail)] }];
}

function restOfReasoning(item: Item, given: JsonObject): Deltas {
  const texts = thoughtsIn(given);
  const name = item.thoughts ?? (texts.text === '' ? 'summary' : 'text');
  const data = textIn(given, 'encrypted_content');
  const isNew = data !== '' && !item.isSealed;
  item.isSealed ||= isNew;
  const sealed = reasoningDetail(item.place, item.id ?? given['id'], { data });
  return [
    ...thought(item, name, texts[name].slice(item.thoughtsSent)),
    ...(isNew ? [{ reasoning_details: [sealed] }] : []),
  ];
}

/** A call that is announced, or that is whole. */
function restOfCall(item: Item, given: JsonObject): Deltas {
  const call = callOf(given);
  const isCustom = call['type'] === 'custom';
  const rest = inputOf(given).slice(item.inputSent);
  const isOfName = given['type'] !== 'function_call' && given['type'] !== 'custom_tool_call';
  const isNew = !item.isNamed && (isOfName || textIn(given, 'name') !== '');
  if (!isNew && (!item.isNamed || rest === '')) return [];
  item.isNamed = true;
  item.inputSent += rest.length;
  return callDelta(item, isNew ? call : more(rest, isCustom));
}

/** More of the input of a call. Until its name is known it waits for the event that has all of it. */
function moreOfCall(item: Item, input: string, isCustom: boolean): Deltas {
  if (!item.isNamed || input === '') return [];
  item.inputSent += input.length;
  return callDelta(item, more(input, isCustom));
}

function callDelta(item: Item, call: JsonObject): Deltas {
  return [{ tool_calls: [{ index: item.place, ...call }] }];
}

function more(input: string, isCustom: boolean): JsonObject {
  return isCustom ? { custom: { input } } : { function: { arguments: input } };
}
