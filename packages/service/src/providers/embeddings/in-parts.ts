import { steadyClock } from '#kernel/time/clock.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import type { Completion, TokenCounts, UsageReport } from '#providers/port/completion.ts';
import { askedOf, callFor } from '#providers/embeddings/embeddings-request.ts';
import { neverStreamed } from '#providers/embeddings/with-embeddings.ts';
import { type Provider, type ProviderCall, UpstreamError } from '#providers/port/provider.ts';

/** The most requests that one call is sent in. A caller with more texts is refused before a hold. */
export const PARTS_MAX = 128;
/** How many of them are under way at once. */
const PARTS_AT_ONCE = 4;

/**
 * Sends the texts of one call in several requests, for vendors that take fewer texts in one than callers send. The caller gets all
 * vectors, or an error and pays nothing: after the first request that fails no other is begun.
 */
export function inParts(provider: Provider, textsMaxOf: (providerModel: string) => number): Provider {
  return {
    stream: neverStreamed,
    complete: (call) => {
      const { texts, settings } = askedOf(call);
      const textsMax = textsMaxOf(call.providerModel);
      if (texts.length <= textsMax) return provider.complete(call);
      const parts = Array.from({ length: Math.ceil(texts.length / textsMax) }, (_, place) =>
        callFor(call, texts.slice(place * textsMax, (place + 1) * textsMax), settings),
      );
      if (parts.length > PARTS_MAX) throw new Error('A batch of so many texts was to be refused.');
      return completeAll(provider, parts);
    },
  };
}

async function completeAll(provider: Provider, parts: readonly ProviderCall[]): Promise<Completion> {
  const answers = Array.from<Completion | undefined>({ length: parts.length });
  const endsAt = steadyClock.nowMs() + Math.max(...parts.map(({ timeoutMs }) => timeoutMs));
  let next = 0;
  let isFailed = false;

  async function work(): Promise<void> {
    for (let place = next++; place < parts.length && !isFailed; place = next++) {
      try {
        const timeoutMs = Math.ceil(endsAt - steadyClock.nowMs());
        if (timeoutMs <= 0) throw new UpstreamError('timeout', 'The provider did not respond in time.');
        const answer = await provider.complete({ ...(parts[place] as ProviderCall), timeoutMs });
        // Its vectors are numbers now, and the other parts may wait for its place.
        answer.large?.leave();
        answers[place] = answer;
      } catch (fault) {
        isFailed = true;
        throw fault;
      }
    }
  }

  const ends = await Promise.allSettled(Array.from({ length: PARTS_AT_ONCE }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return joined(answers.filter((answer) => answer !== undefined));
}

function joined(answers: readonly Completion[]): Completion {
  const [first] = answers;
  if (first === undefined) throw new Error('A call has one part at least.');
  const data = answers.flatMap(({ native }) => (native?.['data'] ?? []) as readonly JsonObject[]);
  return {
    choices: first.choices,
    usage: sumOf(answers.map(({ usage }) => usage)),
    extra: {},
    native: { object: 'list', data: data.map((one, index) => ({ ...one, index })) },
  };
}

/** The sum of all reports. Undefined if one is missing: then nobody has counted the whole. */
function sumOf(reports: readonly (UsageReport | undefined)[]): UsageReport | undefined {
  const told = reports.filter((report) => report !== undefined);
  if (told.length < reports.length) return undefined;
  const sum = (name: keyof TokenCounts): number => told.reduce((all, { counts }) => all + (counts[name] ?? 0), 0);
  const counts = { prompt: sum('prompt'), completion: sum('completion'), total: sum('total') };
  return { counts, extra: {}, isContradictory: told.some(({ isContradictory }) => isContradictory) };
}
