import type { Upstream } from '#catalogue/catalogue.ts';
import type { Price } from '#catalogue/price.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';

const MARK = 'cache_control';
const HOUR = '1h';

/**
 * The request without the cache marks that have no price: vendors bill what they write to their cache above the price of input, and a
 * caller would decide what the operator loses. A mark changes no answer, so a call without it is the same call. `upstreams` are all
 * that may be asked. The same object if no mark goes.
 */
export function withoutUnpricedMarks(request: JsonObject, upstreams: readonly Pick<Upstream, 'price'>[]): JsonObject {
  const { messages, tools, system, [MARK]: mark } = request;
  const isPriced = (mark: unknown): boolean => upstreams.every(({ price }) => hasPrice(price, mark));
  const kept = withoutMarks(messages, isPriced);
  const keptTools = withoutMarks(tools, isPriced);
  const keptSystem = withoutMarks(system, isPriced);
  const isSame = kept === messages && keptTools === tools && keptSystem === system;
  const isMarkKept = mark === undefined || isPriced(mark);
  if (isSame && isMarkKept) return request;
  const { [MARK]: _mark, ...unmarked } = request;
  return {
    ...(isMarkKept ? request : unmarked),
    messages: kept,
    ...(tools === undefined ? {} : { tools: keptTools }),
    ...(system === undefined ? {} : { system: keptSystem }),
  };
}

/** The catalogue has the price of input for writes that an entry gives no price. */
function hasPrice({ inputMicrosPerMillion, cacheWriteMicrosPerMillion, special }: Price, mark: unknown): boolean {
  if (inputMicrosPerMillion === 0n) return true; // Of a model that is free.
  const isLong = isJsonObject(mark) && mark['ttl'] === HOUR;
  if (!isLong) return cacheWriteMicrosPerMillion > inputMicrosPerMillion;
  return special?.tiers.every(({ cacheWrite, cacheWriteLong }) => cacheWriteLong > cacheWrite) ?? false;
}

/** Where servers read marks beside the item itself: in its parts, its function, the calls that it made, and the text of a document. */
const INNER = ['content', 'function', 'tool_calls', 'source'];

/** The items without the marks of theirs and of what is in them. Marks are rare, so a copy is made only if one goes. */
function withoutMarks(items: unknown, isPriced: (mark: unknown) => boolean): unknown {
  if (!Array.isArray(items)) return items;
  const given: readonly unknown[] = items;
  let copy: unknown[] | undefined;
  for (let place = 0; place < given.length; place += 1) {
    const kept = withoutMark(given[place], isPriced);
    if (kept === given[place]) continue;
    copy ??= [...given];
    copy[place] = kept;
  }
  return copy ?? items;
}

function withoutMark(item: unknown, isPriced: (mark: unknown) => boolean): unknown {
  if (!isJsonObject(item)) return item;
  let kept = item;
  for (const name of INNER) {
    const inner = item[name];
    const rest = Array.isArray(inner) ? withoutMarks(inner, isPriced) : withoutMark(inner, isPriced);
    if (rest !== inner) kept = { ...kept, [name]: rest };
  }
  if (item[MARK] === undefined || isPriced(item[MARK])) return kept;
  const { [MARK]: _mark, ...others } = kept;
  return others;
}
