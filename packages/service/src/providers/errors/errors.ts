import type { ErrorResponse } from '@purser/upstream-http/client.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { withErrorText } from '#providers/errors/redacted-text.ts';
import { meaningOfReason } from '#providers/answers/finish-reasons.ts';
import { type ErrorFacts, factsOfError, factsOfText, isErrorBody } from '#providers/errors/facts.ts';
import { type ErrorKind, kindOf, kindOfFrame, statusIn } from '#providers/errors/kind.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import { retryAfterSecondsOf } from '#providers/errors/request-failure.ts';

const MESSAGES: Readonly<Record<ErrorKind, string>> = {
  throttled: 'The provider throttled the call.',
  'too-long': 'The provider said that the prompt is too long.',
  rejected: 'The provider rejected the call.',
  unauthorized: 'The provider refused our key, or this model to our account.',
  refused: 'The provider refused the call.',
  timeout: 'The provider gave the call up after a time.',
  outage: 'The provider failed.',
};

/** The failure that a status other than 200 means. Of its body only known codes and phrases count, and none is kept (ER-03). */
export function errorOfResponse(
  status: number,
  response: ErrorResponse | undefined,
  request: JsonObject,
  own: OwnWords = {},
): UpstreamError {
  const kind = own.kind ?? kindOf(status, factsOfText(response?.text ?? ''));
  const retryAfterSeconds = retryAfterSecondsOf(response) ?? own.retryAfterSeconds;
  return withErrorText(
    new UpstreamError(kind, MESSAGES[kind], { status, retryAfterSeconds }),
    response?.text ?? '',
    request,
  );
}

/** What a vendor's own codes say of a failure. */
interface OwnWords {
  readonly kind?: ErrorKind | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** The failure that an error object in a 200 or in a stream means. Its text is not kept (ER-03). */
export function errorOfFrame(error: JsonObject): UpstreamError {
  return errorOfFacts(factsOfError(error));
}

/** Throws the failure that JSON tells of which came with status 200 in the place of an answer, a chunk or a whole stream. */
export function checkForError(body: unknown): void {
  if (isErrorBody(body)) throw errorOfFacts(factsOfError(Array.isArray(body) ? body[0] : body));
}

function errorOfFacts(facts: ErrorFacts): UpstreamError {
  const kind = kindOfFrame(facts);
  return new UpstreamError(kind, MESSAGES[kind], { status: statusIn(facts) });
}

/** Returns true if a reason to finish means that the provider broke the answer off. Such an answer is free (CC-11). */
function isFailure(finishReason: unknown): boolean {
  return typeof finishReason === 'string' && meaningOfReason(finishReason) === 'failed';
}

/** Throws the error that a choice holds: some providers answer 200 and put it there. Such an answer is free (CC-11). */
export function checkChoices(choices: readonly unknown[]): asserts choices is readonly JsonObject[] {
  for (const choice of choices) {
    if (!isJsonObject(choice))
      throw new UpstreamError('malformed', 'The provider sent a choice that is not an object.');
    if (isJsonObject(choice['error'])) throw errorOfFrame(choice['error']);
    if (isFailure(choice['finish_reason'])) throw new UpstreamError('cut', 'The provider broke off its response.');
  }
}
