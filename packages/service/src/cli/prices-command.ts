import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CommandError, UsageError } from '#cli/command-error.ts';
import { epochMsOf, systemClock } from '#kernel/clock.ts';
import { type Decimal, readDecimal } from '#price-lists/decimal.ts';
import { readAliases } from '#price-lists/matching.ts';
import { readModelsDev } from '#price-lists/models-dev.ts';
import { PriceListError } from '#price-lists/price-list-error.ts';
import { readUpstreams, withPrices } from '#price-lists/priced-upstreams.ts';
import { type Proposal, proposePrices } from '#price-lists/propose.ts';
import { readList } from '#price-lists/read-list.ts';
import { reportOf } from '#price-lists/report.ts';
import { loadSecondList } from '#price-lists/second-list.ts';

const LIST = 'https://models.dev/api.json';
const DOLLAR: Decimal = { digits: 1n, scale: 0 };

export const PRICES_HELP = `Usage: npm run purser -- catalogue prices [options]

Compares the prices of a catalogue file with models.dev's list, checks the list against a second one
(@pydantic/genai-prices), and shows the difference. It changes nothing by itself. To change prices, let it write a new
catalogue file, read that file, and apply it with \`catalogue import\`.

  --list <file or address>    the price list (default ${LIST})
  --catalogue <file>          the catalogue file (default PURSER_CATALOGUE)
  --write <file>              write a new catalogue file with the new prices; refused ones stay as they are
  --from <time>               with --write: the new prices are in force from then on, such as 2026-12-01T00:00:00Z
  --dollar <rate>             how much of your currency a US dollar is, such as 0.92; needed unless PURSER_CURRENCY is USD
  --model <model>             only this model of the catalogue; can be repeated
  --as <ours>=<theirs>        where the list has something: <provider>=<provider of the list>, or
                              <provider>/<provider model>=<provider of the list>/<model of the list>; can be repeated
  --without-check <model>     take the price of this model although the second list does not confirm it; can be repeated

A price is refused if it is negative, zero or incomplete, if it looks like another unit, if it would change 50 times or
more, or if the two lists differ by more than a hundredth. The exit status is 1 if a price was refused.`;

const OPTIONS = {
  list: { type: 'string' },
  catalogue: { type: 'string' },
  write: { type: 'string' },
  from: { type: 'string' },
  dollar: { type: 'string' },
  model: { type: 'string', multiple: true },
  as: { type: 'string', multiple: true },
  'without-check': { type: 'string', multiple: true },
  help: { type: 'boolean' },
} as const;

export interface PricesSettings {
  readonly catalogueFile: string | undefined;
  readonly currency: string;
}

/** Runs `catalogue prices`: 1 if a price was refused. Throws `CommandError` or `CatalogueFileError`. */
export async function comparePrices(words: readonly string[], readSettings: () => PricesSettings): Promise<number> {
  const options = readOptions(words);
  if (options.help === true) {
    console.log(PRICES_HELP);
    return 0;
  }
  try {
    return await compare(options, readSettings());
  } catch (fault) {
    throw fault instanceof PriceListError ? new CommandError(fault.message) : fault;
  }
}

async function compare(options: ReturnType<typeof readOptions>, settings: PricesSettings): Promise<number> {
  const { list: place = LIST, catalogue: file = settings.catalogueFile, write, from } = options;
  if (file === undefined) throw new UsageError('Name the catalogue file: --catalogue <file>, or PURSER_CATALOGUE.');
  const exchangeRate = readRate(options.dollar, settings.currency);
  checkMoment(from, write);
  const text = readCatalogue(file);
  const upstreams = readUpstreams(text);
  const list = readModelsDev(await readList(place));
  const proposals = proposePrices(
    upstreams,
    { list, second: await loadSecondList(systemClock.nowMs()) },
    {
      aliases: readAliases(options.as ?? [], upstreams, list),
      exchangeRate,
      unchecked: new Set(options['without-check']),
      only: options.model === undefined ? undefined : new Set(options.model),
    },
  );
  console.log(`Prices in ${settings.currency}, without your margin. The list is ${place}.\n\n${reportOf(proposals)}\n`);
  return conclude(proposals, { text, write, from });
}

interface Result {
  readonly text: string;
  readonly write: string | undefined;
  readonly from: string | undefined;
}

function conclude(proposals: readonly Proposal[], { text, write, from }: Result): number {
  const count = (verdict: string) => proposals.filter(({ judgement }) => judgement?.verdict === verdict).length;
  const [changed, refused] = [count('change'), count('refused')];
  const skipped = proposals.length - changed - refused - count('same');
  console.log(`${changed} new, ${count('same')} unchanged, ${refused} refused, ${skipped} not compared.`);
  if (changed === 0) {
    console.log('There is nothing to write.');
  } else if (write === undefined) {
    console.log('Nothing was changed. Add --write <file> to write a catalogue file with the new prices.');
  } else {
    const prices = proposals.flatMap(({ upstream, judgement }) =>
      judgement?.verdict === 'change' && judgement.card !== undefined ? [{ upstream, card: judgement.card }] : [],
    );
    writeNew(write, withPrices(text, prices, from));
    console.log(`Wrote ${write}. Read it, then apply it: npm run purser -- catalogue import ${write}`);
  }
  return refused > 0 ? 1 : 0;
}

/** `parseArgs` explains its own errors well enough to be shown as they are. */
function readOptions(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, strict: true }).values;
  } catch (fault) {
    throw new UsageError(fault instanceof Error ? fault.message : 'The options could not be read.');
  }
}

/** A list in dollars must not become prices in another currency by mistake. */
function readRate(text: string | undefined, currency: string): Decimal {
  if (text === undefined) {
    if (currency === 'USD') return DOLLAR;
    throw new UsageError(
      `Your prices are in ${currency} (PURSER_CURRENCY), and the list is in US dollars. ` +
        `Say how many ${currency} one US dollar is, such as --dollar 0.92`,
    );
  }
  const rate = readDecimal(text);
  if (rate === undefined || rate.digits <= 0n) throw new UsageError('--dollar must be a number above 0, such as 0.92.');
  return rate;
}

function checkMoment(from: string | undefined, write: string | undefined): void {
  if (from === undefined) return;
  if (write === undefined) throw new UsageError('--from needs --write: it says when the written prices begin.');
  if (!(epochMsOf(from) > systemClock.nowMs())) {
    throw new UsageError('--from must be a time in the future, such as 2026-12-01T00:00:00Z.');
  }
}

function readCatalogue(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CommandError(`The catalogue \`${file}\` cannot be read.`);
  }
}

/** Never over a file that exists: it may be the only copy of a catalogue. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (fault) {
    const isThere = (fault as { readonly code?: unknown }).code === 'EEXIST';
    throw new CommandError(`\`${file}\` ${isThere ? 'exists already. Name a new file' : 'cannot be written'}.`);
  }
}
