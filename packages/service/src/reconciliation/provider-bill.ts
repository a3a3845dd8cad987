import { type BillLine, PICO_PLACES } from '#reconciliation/bill-line.ts';
import { partsOf } from '#reconciliation/decimal.ts';
import { FileFault } from '#reconciliation/file-fault.ts';
import type { Period } from '#reconciliation/period.ts';

/**
 * `openrouter`: the answer of `GET /api/v1/activity` (https://openrouter.ai/docs/api/api-reference/analytics/get-user-activity).
 * `anthropic`: answers of `GET /v1/organizations/cost_report` with `group_by[]=description`
 * (https://platform.claude.com/docs/en/api/admin/cost_report/retrieve). A file may have several answers, the pages of one list,
 * in an array.
 */
export type BillFormat = 'openrouter' | 'anthropic';

const LINES_MAX = 100_000;
/** Anthropic counts in cents. */
const CENT_PLACES = PICO_PLACES - 2;

type Fields = Readonly<Record<string, unknown>>;

/** A number as it was written: a JavaScript number would round it. */
class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Reads a bill. Throws `FileFault` if any of it is wrong, is outside the period, or is in another currency than US dollars. */
export function readBill(text: string, format: BillFormat, period: Period): readonly BillLine[] {
  const whole = parse(text);
  const pages = Array.isArray(whole) ? whole : [whole];
  const entries = pages.flatMap((page, index) => {
    const data = isFields(page) ? page['data'] : undefined;
    if (!Array.isArray(data)) throw new FileFault(`Answer ${index + 1} of the file has no list \`data\`.`);
    return data as unknown[];
  });
  const lines = format === 'openrouter' ? entries.map(openRouterLine) : entries.flatMap(anthropicLines);
  if (lines.length > LINES_MAX) throw new FileFault(`The bill has more than ${LINES_MAX} lines.`, { isTooLarge: true });
  const last = pages.at(-1);
  if (isFields(last) && last['has_more'] === true) {
    throw new FileFault('The last answer says `has_more`: the list goes on. Put all its pages into one array.');
  }
  for (const { day } of lines) {
    if (day < period.from || day >= period.to) throw new FileFault(`The bill has ${day}, which is outside the period.`);
  }
  return lines;
}

function parse(text: string): unknown {
  try {
    // `source` is the number as it is written.
    const keep = (_name: string, value: unknown, { source }: { readonly source?: string }) =>
      typeof value === 'number' ? new Written(source ?? '') : value;
    return JSON.parse(text.replace(/^\uFEFF/, ''), keep as (name: string, value: unknown) => unknown);
  } catch {
    throw new FileFault('The bill is not JSON. Save the answer of the provider as it came.');
  }
}

function openRouterLine(entry: unknown, index: number): BillLine {
  const at = `Entry ${index + 1}`;
  if (!isFields(entry)) throw new FileFault(`${at} is not an object.`);
  return {
    day: dayIn(entry['date'], `${at}: \`date\``),
    model: modelIn(entry['model'], `${at}: \`model\``),
    cost: decimalIn(entry['usage'], PICO_PLACES, `${at}: \`usage\``),
    requests: countIn(entry['requests'], `${at}: \`requests\``),
    inputTokens: countIn(entry['prompt_tokens'], `${at}: \`prompt_tokens\``),
    outputTokens: countIn(entry['completion_tokens'], `${at}: \`completion_tokens\``),
  };
}

/** A bucket is one UTC day, with a line for each kind of token of each model. */
function anthropicLines(bucket: unknown, index: number): readonly BillLine[] {
  const at = `Day ${index + 1}`;
  const results = isFields(bucket) ? bucket['results'] : undefined;
  if (!isFields(bucket) || !Array.isArray(results)) throw new FileFault(`${at} has no list \`results\`.`);
  const startingAt = bucket['starting_at'];
  const day = dayIn(
    typeof startingAt === 'string' ? startingAt.replace(/T00:00:00(\.0+)?Z$/, '') : undefined,
    `${at}: \`starting_at\``,
  );
  return results.map((result: unknown) => {
    if (!isFields(result)) throw new FileFault(`${at} has a result that is not an object.`);
    if (result['currency'] !== 'USD') throw new FileFault(`${at} has a result whose \`currency\` is not USD.`);
    if (result['cost_type'] === null || result['cost_type'] === undefined) {
      throw new FileFault(`${at} has no models. Ask for the report with \`group_by[]=description\`.`);
    }
    const amount = result['amount'];
    return {
      day,
      model: result['model'] === null ? undefined : modelIn(result['model'], `${at}: \`model\``),
      cost: decimalIn(typeof amount === 'string' ? new Written(amount) : undefined, CENT_PLACES, `${at}: \`amount\``),
      requests: undefined,
      inputTokens: undefined,
      outputTokens: undefined,
    };
  });
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Written);
}

function dayIn(value: unknown, name: string): string {
  if (typeof value === 'string' && /^2\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(value)) return value;
  throw new FileFault(`${name} must be a UTC day, such as \`2026-11-30\`.`);
}

function modelIn(value: unknown, name: string): string {
  if (typeof value === 'string' && /^[\x21-\x7e]{1,256}$/.test(value)) return value;
  throw new FileFault(`${name} must be the name of a model.`);
}

/** Trailing zeros beyond the places lose nothing. */
function decimalIn(value: unknown, places: number, name: string): bigint {
  const text = value instanceof Written ? value.text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : '';
  const small = /^(\d)(?:\.(\d+))?e-(\d{1,2})$/i.exec(text); // JSON writes very small numbers like this.
  const plain = small === null ? text : `0.${'0'.repeat(Number(small[3]) - 1)}${small[1]}${small[2] ?? ''}`;
  const [whole = '', decimals = ''] = plain.split('.');
  // Providers print more places than they can bill. What is cut off is below a millionth of a micro.
  const parts = partsOf(decimals === '' ? whole : `${whole}.${decimals.slice(0, places)}`, places);
  if (parts === undefined || parts < 0n) throw new FileFault(`${name} must be an amount, such as \`12.5\`.`);
  return parts;
}

function countIn(value: unknown, name: string): bigint {
  if (value instanceof Written && /^\d{1,15}$/.test(value.text)) return BigInt(value.text);
  throw new FileFault(`${name} must be a whole number.`);
}
