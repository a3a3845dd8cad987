import type { Values } from '#gateway/parameters/values.ts';
import { misshapen, shownOf } from '#gateway/body/parse-body.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

interface WireParameters {
  /** Those that are read apart, such as the conversation. They come first in the list that a refusal tells. */
  readonly readApart: readonly string[];
  /** The values that each of the others takes. */
  readonly values: ReadonlyMap<string, Values>;
  /** Parameters that are refused with any value, and values that are, each with what to do instead. */
  readonly refused: ReadonlyMap<string, string>;
  /** What to use here, for names of other interfaces. */
  readonly foreign: ReadonlyMap<string, string>;
}

/**
 * Returns what finds the first parameter of a body that is unknown, is refused by its name, or has a value that is not taken. A null
 * says nothing.
 */
export function createParameterCheck({
  readApart,
  values,
  refused,
  foreign,
}: WireParameters): (body: JsonObject) => Refusal<'BAD_REQUEST'> | undefined {
  const known = new Set([...readApart, ...values.keys()]);

  function unknown(name: string): Refusal<'BAD_REQUEST'> {
    const advice = foreign.get(name);
    const hint = advice === undefined ? '' : ` ${advice}`;
    const list = Array.from(known, (one) => `\`${one}\``).join(', ');
    const param = shownOf(name);
    return refuse('BAD_REQUEST', `\`${param}\` is not a supported parameter.${hint} Supported: ${list}.`, { param });
  }

  return (body) => {
    for (const [name, value] of Object.entries(body)) {
      if (value === null) continue;
      const fault = values.get(name)?.faultOf(value, name);
      if (fault === undefined && known.has(name)) continue;
      const advice = refused.get(name);
      if (advice !== undefined) return refuse('BAD_REQUEST', `\`${name}\` is not taken. ${advice}`, { param: name });
      return fault === undefined ? unknown(name) : misshapen(fault);
    }
    return undefined;
  };
}
