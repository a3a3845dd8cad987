import { type CallId, parseCallId } from '#kernel/values/ids.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { settlementOf } from '#ledger/settlement/spool-record.ts';

/** The charge that a caller was told, by a line of a log or of a settlement file. */
export interface ToldCharge {
  readonly callId: CallId;
  readonly micros: bigint;
  /**
   * Tells whether the line is of a settlement file. If so, its charge may be above the hold, and its caller was told
   * the hold then.
   */
  readonly isSpooled: boolean;
}

/** The word `untold` stands for a call whose caller was told no charge, or for any other line of the log. */
type ReadLine = ToldCharge | 'untold' | 'malformed';

/** This is far more than a line of a call has. A longer one is not kept in memory. */
const LINE_CHARS_MAX = 65_536;

/** The lines of a text that comes in pieces, without empty ones. A line that is too long is cut off, so nobody can parse it. */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let line = '';
  for await (const text of texts) {
    const parts = text.split('\n');
    const last = parts.length - 1;
    for (const [index, part] of parts.entries()) {
      line = (line + part).slice(0, LINE_CHARS_MAX);
      if (index === last) break;
      if (line.trim() !== '') yield line;
      line = '';
    }
  }
  if (line.trim() !== '') yield line;
}

/**
 * Reads a line of the JSON log of a gateway, or of a settlement file. Only an answer tells a charge: nobody is told who has
 * left, and a failure costs nothing. Play money is left out.
 */
export function toldBy(line: string): ReadLine {
  const record = parseJson(line);
  if (!isJsonObject(record)) return 'malformed';
  if ('charge' in record && 'usage' in record) return toldOnDisk(record);
  if (record['msg'] !== 'call') return 'untold';
  if (record['mode'] !== 'live' || record['outcome'] !== 'answered') return 'untold';
  const { callId: id, chargedMicros } = record;
  const callId = typeof id === 'string' ? parseCallId(id) : undefined;
  if (callId === undefined || !Number.isSafeInteger(chargedMicros) || Number(chargedMicros) < 0) return 'malformed';
  return { callId, micros: BigInt(Number(chargedMicros)), isSpooled: false };
}

function toldOnDisk(record: JsonObject): ReadLine {
  const settlement = settlementOf(record);
  if (settlement === undefined) return 'malformed';
  const { callId, charge, outcome } = settlement;
  return outcome === 'answered' ? { callId, micros: charge, isSpooled: true } : 'untold';
}
