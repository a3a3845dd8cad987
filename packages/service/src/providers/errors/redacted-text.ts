import type { JsonObject } from '#kernel/text/json.ts';
import { factsOfText } from '#providers/errors/facts.ts';
import type { UpstreamError } from '#providers/port/provider.ts';

const CHARACTERS_MAX = 500;
/** Keys, tokens, encoded text, long numbers and addresses: any run without a space that is longer than a word of an error. */
const LONG = /[^\s"'`,;:()[\]{}<>]{21,}|\S*\d{5,}\S*|\S*@\S*/g;
const WORD = /[\p{L}\p{N}]+/gu;

/** Words of errors themselves. A prompt may have them too, and they say nothing of it. */
const TERMS = new Set(
  `a above access account allowed also an and api are argument array at authentication be below body boolean but by called can
  cannot chat code completion completions contact content context could credit does enough error exceed exceeded exceeds expected
  field found for format function got has have however if image in input instead integer internal invalid is it key later least
  length less limit long maximum message messages minimum missing model models more most must name no not number object of on one
  only or organization output overloaded parameter parameters per permission please present prompt provided quota rate reached
  request requested requests required resource response retry role schema see server service should stream string supported system
  temperature than that the this time to token tokens tool tools too try type unauthorized unknown unsupported up url use user using
  value valid was with without you your`.split(/\s+/),
);

let isAsked = false;
/** The texts are beside the errors and not in them, so that nothing which logs or sends an error can show them. */
const texts = new WeakMap<UpstreamError, string>();

/** Whether errors of providers are to be shown in the log, redacted. For the operator who looks for a fault (ER-03). */
export function showErrorTexts(isShown: boolean): void {
  isAsked = isShown;
}

/** Remembers what a provider said with an error, if that is wanted at all. Returns the error. */
export function withErrorText(error: UpstreamError, text: string, request: JsonObject): UpstreamError {
  if (isAsked && text !== '') texts.set(error, redacted(text, request));
  return error;
}

/** What the provider said, redacted. Undefined unless it is to be shown. */
export function errorTextOf(error: UpstreamError): string | undefined {
  return texts.get(error);
}

/**
 * A provider's text without keys and without anything of the request: what looks like a key, a number or an address becomes `[…]`,
 * and every word that stands in the request becomes `…`, apart from the usual words of errors. At most 500 characters.
 */
export function redacted(text: string, request: JsonObject): string {
  const { codes, message } = factsOfText(text);
  const isKnown = codes.length > 0 || message !== '';
  const said = isKnown ? [...codes, message].join(' ') : text.toLowerCase();
  const sent = textsIn(request).join('\n').toLowerCase();
  return said
    .slice(0, CHARACTERS_MAX)
    .replaceAll(LONG, '[…]')
    .replaceAll(WORD, (word) => (!TERMS.has(word) && sent.includes(word) ? '…' : word));
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [name, ...textsIn(one)]);
}
