import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import { isAnswer, NotExpressible, type Outcome } from '#probe/exchange.ts';
import { OBEYED, SHORT_LIMIT } from '#probe/questions.ts';
import type { ProviderCall, UpstreamError, UpstreamErrorKind } from '#providers/port/provider.ts';

/** What one call has shown. */
export interface Finding {
  readonly what: string;
  readonly is: 'yes' | 'no' | 'unclear';
  readonly words: string;
}

/** This is twice the number of characters that so many tokens of digits and spaces can have. */
const SHORT_CHARACTERS = SHORT_LIMIT * 8;

export function limitFinding(parameter: ProviderCall['outputLimitParameter'], outcome: Outcome): Finding {
  const what = `output limit by ${parameter}`;
  if (!isAnswer(outcome)) return failed(what, outcome);
  const { usage, text, finishReason } = outcome;
  const tokens = usage?.completion;
  if (tokens === undefined ? text.length > SHORT_CHARACTERS : tokens > SHORT_LIMIT) {
    const size = tokens === undefined ? `${text.length} characters` : `${tokens} tokens`;
    return { what, is: 'no', words: `it is ignored: ${size} for a limit of ${SHORT_LIMIT} tokens` };
  }
  if (finishReason === 'length')
    return { what, is: 'yes', words: 'the answer was cut, with the finish reason `length`' };
  if (tokens === SHORT_LIMIT) {
    return {
      what,
      is: 'yes',
      words: `the answer was cut, but its finish reason is \`${finishReason}\`, not \`length\``,
    };
  }
  return { what, is: 'unclear', words: 'the answer ended by itself before the limit' };
}

export function usageFinding(what: string, outcome: Outcome): Finding {
  if (!isAnswer(outcome)) return failed(what, outcome);
  const { usage } = outcome;
  if (usage === undefined) return { what, is: 'no', words: 'Purser would count the tokens itself' };
  // Tokens that no limit bounds and no count includes are billed by the provider and cannot be charged (Perplexity's deep research).
  if ((usage.reasoning ?? 0) > (usage.completion ?? 0)) {
    const words = `it reports more reasoning (${usage.reasoning}) than output (${usage.completion}): Purser would charge less than it is billed`;
    return { what, is: 'no', words };
  }
  const kinds = Object.entries(usage).flatMap(([kind, count]) => (count === undefined ? [] : [kind]));
  return { what, is: 'yes', words: kinds.join(', ') };
}

/** Two answers to the same question, each cut at the limit. llama.cpp counts one of them. */
export function choicesFinding(outcome: Outcome): Finding {
  const what = 'usage of two choices';
  if (!isAnswer(outcome)) return failed(what, outcome);
  const { usage, choices } = outcome;
  if (choices < 2) return { what, is: 'no', words: 'it gave one answer for `n` of 2' };
  const tokens = usage?.completion ?? 0;
  if (tokens > SHORT_LIMIT) return { what, is: 'yes', words: `${tokens} tokens for two answers` };
  if (tokens < SHORT_LIMIT) return { what, is: 'unclear', words: `${tokens} tokens for two answers` };
  return { what, is: 'no', words: `it counts one answer: ${tokens} tokens for two of ${SHORT_LIMIT}` };
}

export function streamFinding(outcome: Outcome): Finding {
  const what = 'streams';
  if (!isAnswer(outcome)) return failed(what, outcome);
  const { finishReason } = outcome;
  if (finishReason === null) return { what, is: 'unclear', words: 'the stream ended without a finish reason' };
  return { what, is: 'yes', words: `the finish reason is \`${finishReason}\`` };
}

export function toolFinding(outcome: Outcome): Finding {
  const what = 'tools';
  if (!isAnswer(outcome)) return failed(what, outcome);
  const { toolArguments, finishReason } = outcome;
  if (toolArguments === undefined) return { what, is: 'unclear', words: 'it answered without calling the tool' };
  const city = parseJson(toolArguments);
  if (!isJsonObject(city) || typeof city['city'] !== 'string') {
    return { what, is: 'no', words: 'it called the tool with arguments that do not fit' };
  }
  return { what, is: 'yes', words: `the finish reason is \`${finishReason}\`` };
}

export function schemaFinding(outcome: Outcome): Finding {
  const what = 'JSON schema';
  if (!isAnswer(outcome)) return failed(what, outcome);
  const answer = parseJson(outcome.text);
  const fits = isJsonObject(answer) && typeof answer['city'] === 'string' && Number.isInteger(answer['year']);
  if (fits) return { what, is: 'yes', words: 'the answer fits the schema' };
  if (outcome.finishReason === 'length') return { what, is: 'unclear', words: 'the answer was cut before its end' };
  return { what, is: 'no', words: 'it is ignored: the answer does not fit the schema' };
}

/**
 * The parameter `control` is the answer to the same order in a system message. It is needed if the developer's was not
 * obeyed.
 */
export function developerFinding(outcome: Outcome, control: Outcome | undefined): Finding {
  const what = 'developer role';
  if (!isAnswer(outcome)) return failed(what, outcome);
  if (isObeyed(outcome)) return { what, is: 'yes', words: 'it is obeyed' };
  if (control === undefined || !isObeyed(control)) {
    return { what, is: 'unclear', words: 'it is accepted, but the model obeys no system message either' };
  }
  return { what, is: 'no', words: 'it is accepted, but not obeyed as a system message is' };
}

export function isObeyed(outcome: Outcome): boolean {
  return isAnswer(outcome) && outcome.text.toUpperCase().includes(OBEYED);
}

/** The parameter `contextTokens` is what the catalogue says. The prompt was a little longer. */
export function fullContextFinding(contextTokens: number, outcome: Outcome): Finding {
  const what = 'too long a prompt';
  if (!isAnswer(outcome)) {
    const words = `a prompt of more than ${contextTokens} tokens is refused`;
    return outcome.kind === 'too-long' ? { what, is: 'yes', words } : failed(what, outcome);
  }
  const tokens = outcome.usage?.prompt;
  if (tokens === undefined) return { what, is: 'unclear', words: 'it was answered, without a count of its tokens' };
  if (tokens >= contextTokens) return { what, is: 'no', words: `a prompt of ${tokens} tokens was answered` };
  return { what, is: 'no', words: `the prompt was cut to ${tokens} tokens without an error, and answered` };
}

/** Failures that would come again. Others, such as a 500, prove nothing. */
const REFUSALS: ReadonlySet<UpstreamErrorKind> = new Set(['rejected', 'refused', 'too-long']);

export function failed(what: string, error: UpstreamError): Finding {
  if (error instanceof NotExpressible) return { what, is: 'no', words: error.message };
  const status = error.status === undefined ? '' : ` (${error.status})`;
  const words: Readonly<Partial<Record<UpstreamError['kind'], string>>> = {
    rejected: 'the upstream rejects it',
    'too-long': 'the upstream says that it is too long',
    refused: 'the upstream refuses it',
    outage: 'the upstream fails',
    timeout: 'the upstream did not answer in time',
    malformed: 'the answer cannot be read',
    cut: 'the answer broke off',
  };
  return {
    what,
    is: REFUSALS.has(error.kind) ? 'no' : 'unclear',
    words: `${words[error.kind] ?? 'it failed'}${status}`,
  };
}
