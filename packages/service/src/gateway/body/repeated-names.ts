import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  endOfString,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '#gateway/body/json-bytes.ts';
import type { ValueFault } from '#gateway/parameters/values.ts';
import { pathOf, type Step } from '#gateway/body/value-path.ts';

const EXPECTS = 'given only once: an object may not have two members of one name';

/** An object or a list that is open where the scan is. */
interface Open {
  /** The names that an object has had so far. Undefined for a list. */
  readonly names: Set<string> | undefined;
  /** The name or index that was read last. */
  step: Step;
  /** The next string of an object is a name. */
  isNameNext: boolean;
}

/**
 * Finds the first name that an object of valid JSON has twice (CC-20). Escapes are read: `"\u006dodel"` is `"model"`. One pass,
 * but slower than the parser, so it is called only if there is such a name.
 */
export function findRepeatedName(bytes: Buffer): ValueFault | undefined {
  const open: Open[] = [];
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    const inner = open.at(-1);
    if (byte === QUOTE) {
      const end = endOfString(bytes, index + 1);
      if (inner?.isNameNext === true && isRepeated(inner, bytes.toString('utf8', index, end + 1))) {
        return { path: pathOf(open.map(({ step }) => step)), expects: EXPECTS };
      }
      index = end;
    } else if (byte === OPEN_OBJECT) open.push({ names: new Set(), step: '', isNameNext: true });
    else if (byte === OPEN_ARRAY) open.push({ names: undefined, step: 0, isNameNext: false });
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) open.pop();
    else if (byte === COMMA && inner !== undefined) goOn(inner);
  }
  return undefined;
}

function goOn(inner: Open): void {
  if (typeof inner.step === 'number') inner.step += 1;
  else inner.isNameNext = true;
}

function isRepeated(holder: Open, quoted: string): boolean {
  const name = JSON.parse(quoted) as string;
  holder.step = name;
  holder.isNameNext = false;
  const isKnown = holder.names?.has(name) === true;
  holder.names?.add(name);
  return isKnown;
}
