import { type BillLine, PICO_PLACES } from '#reconciliation/bills/bill-line.ts';
import { partsOf } from '#reconciliation/files/decimal.ts';
import { FileFault } from '#reconciliation/files/file-fault.ts';
import { dayOf, type Period } from '#reconciliation/files/period.ts';

/**
 * The formats are: `openrouter`: the answer of `GET /api/v1/activity`
 * (https://openrouter.ai/docs/api/api-reference/analytics/get-user-activity). `anthropic`: answers of `GET
 * /v1/organizations/cost_report` with `group_by[]=description`
 * (https://platform.claude.com/docs/en/api/admin/cost_report/retrieve). `openai`: answers of `GET
 * /v1/organization/costs` with `group_by=line_item` (https://platform.openai.com/docs/api-reference/usage/costs). A
 * file may have several answers, the pages of one list, in an array.
 */
export const BILL_FORMATS = ['openrouter', 'anthropic', 'openai'] as const;
export type BillFormat = (typeof BILL_FORMATS)[number];

/** The limit is 16 MiB: a month of 100 models on 30 days has about 5. A bill is JSON and is read as a whole. */
export const BILL_BYTES_MAX = 16_777_216;

const LINES_MAX = 100_000;
const DAY_SECONDS = 86_400;
/** The number of decimal places, because Anthropic counts in cents. */
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
  const lines = entries.flatMap((entry, index) => LINES_OF[format](entry, index));
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

/** A bucket is one UTC day. Its results have a line item each, such as `gpt-5.4, output`. */
function openAiLines(bucket: unknown, index: number): readonly BillLine[] {
  const at = `Day ${index + 1}`;
  const results = isFields(bucket) ? bucket['results'] : undefined;
  if (!isFields(bucket) || !Array.isArray(results)) throw new FileFault(`${at} has no list \`results\`.`);
  const [start, end] = ['start_time', 'end_time'].map((name) => Number(countIn(bucket[name], `${at}: \`${name}\``)));
  if (start === undefined || start % DAY_SECONDS !== 0 || end !== start + DAY_SECONDS) {
    throw new FileFault(`${at} is not one UTC day. Ask for the costs with \`bucket_width=1d\`.`);
  }
  const day = dayIn(dayOf(start * 1_000), `${at}: \`start_time\``);
  return results.map((result: unknown) => {
    const amount = isFields(result) ? result['amount'] : undefined;
    if (!isFields(result) || !isFields(amount)) throw new FileFault(`${at} has a result without an \`amount\`.`);
    if (amount['currency'] !== 'usd') throw new FileFault(`${at} has a result whose \`currency\` is not usd.`);
    const item = result['line_item'];
    if (typeof item !== 'string') {
      throw new FileFault(`${at} has no line items. Ask for the costs with \`group_by=line_item\`.`);
    }
    return {
      day,
      model: lineItemIn(item, `${at}: \`line_item\``),
      cost: decimalIn(amount['value'], PICO_PLACES, `${at}: \`amount.value\``),
      requests: undefined,
      inputTokens: undefined,
      outputTokens: undefined,
    };
  });
}

/**
 * The model of a line item. OpenAI documents no form for these texts. They name a model, mostly with a kind of token after a comma.
 * A text that names no model of ours is a row of its own, so its money is a difference and never another model's.
 */
function lineItemIn(item: string, name: string): string {
  if (!/^[\x20-\x7e]{1,256}$/.test(item)) throw new FileFault(`${name} must be a short text.`);
  return item.replace(/, [^,]*$/, '').trim() || item;
}

const LINES_OF: Readonly<Record<BillFormat, (entry: unknown, index: number) => readonly BillLine[]>> = {
  openrouter: (entry, index) => [openRouterLine(entry, index)],
  anthropic: anthropicLines,
  openai: openAiLines,
};

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

/** Reads a decimal number. Trailing zeros beyond the places lose nothing. */
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
