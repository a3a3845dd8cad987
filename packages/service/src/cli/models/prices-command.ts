import { readFileSync, writeFileSync } from 'node:fs';
import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import { epochMsOf, systemClock } from '#kernel/time/clock.ts';
import { type Decimal, readDecimal } from '#price-lists/decimal.ts';
import { readAliases } from '#price-lists/matching.ts';
import { readModelsDev } from '#price-lists/models-dev.ts';
import { readUpstreams, withPrices } from '#price-lists/priced-upstreams.ts';
import { type Proposal, proposePrices } from '#price-lists/propose.ts';
import { readList } from '#price-lists/read-list.ts';
import { reportOf } from '#price-lists/report.ts';
import { loadSecondList } from '#price-lists/second-list.ts';

/** This list is read if no other is named. */
const LIST = 'https://models.dev/api.json';
const DOLLAR: Decimal = { digits: 1n, scale: 0 };

/** These are the options of `catalogue prices` as they are written. */
interface PricesWords {
  readonly list?: string | undefined;
  readonly catalogue?: string | undefined;
  readonly write?: string | undefined;
  readonly from?: string | undefined;
  readonly dollar?: string | undefined;
  readonly model?: readonly string[] | undefined;
  readonly as?: readonly string[] | undefined;
  readonly withoutCheck?: readonly string[] | undefined;
}

export interface PricesSettings {
  readonly catalogueFile: string | undefined;
  readonly currency: string;
}

/**
 * Runs `catalogue prices`. The exit status is 1 if a price was refused. Throws `CommandError`, `PriceListError` or
 * `CatalogueFileError`.
 */
export async function comparePrices(options: PricesWords, settings: PricesSettings): Promise<number> {
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
      unchecked: new Set(options.withoutCheck),
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

/** Writes a new file, and never over a file that exists, because that may be the only copy of a catalogue. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (fault) {
    const isThere = (fault as { readonly code?: unknown }).code === 'EEXIST';
    throw new CommandError(`\`${file}\` ${isThere ? 'exists already. Name a new file' : 'cannot be written'}.`);
  }
}
