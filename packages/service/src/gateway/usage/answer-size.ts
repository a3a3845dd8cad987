import type { JsonObject } from '#kernel/text/json.ts';
import { ANSWER_BYTES_MAX } from '#providers/port/provider.ts';

/** The bytes for the head of an answer, its usage and the frame of each choice. */
const BESIDE_BYTES = 64 * 1024;
/**
 * The bytes for the text of a token in an answer. An emoji written as escapes has 12 bytes, and some providers send
 * reasoning twice.
 */
const TEXT_BYTES = 32;
/** A token in `logprobs`, of its own or in `top_logprobs`. Indented, as some providers write JSON, each of its bytes has a line. */
const LISTED_BYTES = 384;

/**
 * The tokens that each choice of a plain answer may have, so that an honest answer is not too large to be taken. The provider would
 * bill such an answer, and nobody could read all of it.
 */
export function outputTokensDeliverable(request: JsonObject, choices: number): number {
  const listed = request['logprobs'] === true ? 1 + Number(request['top_logprobs'] ?? 0) : 0;
  return Math.floor((ANSWER_BYTES_MAX - BESIDE_BYTES) / (choices * (TEXT_BYTES + listed * LISTED_BYTES)));
}
