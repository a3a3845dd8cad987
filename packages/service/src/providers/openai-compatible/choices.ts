import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { errorOfFrame, isFailure } from '#providers/openai-compatible/error.ts';
import { UpstreamError } from '#providers/provider.ts';

/** Throws the error that a choice holds: some providers answer 200 and put it there. Such an answer is free (CC-11). */
export function checkChoices(choices: readonly unknown[]): asserts choices is readonly JsonObject[] {
  for (const choice of choices) {
    if (!isJsonObject(choice))
      throw new UpstreamError('malformed', 'The provider sent a choice that is not an object.');
    if (isJsonObject(choice['error'])) throw errorOfFrame(choice['error']);
    if (isFailure(choice['finish_reason'])) throw new UpstreamError('cut', 'The provider broke off its response.');
  }
}
