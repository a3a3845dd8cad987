import type { JsonObject } from '#kernel/text/json.ts';
import { type Fields, VALUE, visibleObject, WHOLE } from '#providers/answers/visible-fields.ts';

/**
 * What callers of Responses get of a vendor's own response and events (CC-21). What names the payer, how the call was served and what it
 * was billed is in no list: `service_tier`, `billing`, `user`, `safety_identifier`, `prompt_cache_key`. Nor are errors (ER-03), nor what
 * would only repeat the request.
 */

const ANNOTATION: Fields = {
  type: VALUE,
  start_index: VALUE,
  end_index: VALUE,
  index: VALUE,
  url: VALUE,
  title: VALUE,
  file_id: VALUE,
  filename: VALUE,
};
const TOKEN: Fields = { token: VALUE, logprob: VALUE, bytes: VALUE };
const LISTED_TOKEN: Fields = { ...TOKEN, top_logprobs: TOKEN };
const PART: Fields = { type: VALUE, text: VALUE, refusal: VALUE, annotations: ANNOTATION, logprobs: LISTED_TOKEN };
const ITEM: Fields = {
  id: VALUE,
  type: VALUE,
  status: VALUE,
  role: VALUE,
  phase: VALUE,
  content: PART,
  summary: PART,
  encrypted_content: VALUE,
  call_id: VALUE,
  name: VALUE,
  namespace: VALUE,
  arguments: WHOLE,
  input: WHOLE,
  action: WHOLE,
  operation: WHOLE,
  max_output_length: VALUE,
  execution: VALUE,
  tools: WHOLE,
};
const RESPONSE: Fields = {
  id: VALUE,
  object: VALUE,
  created_at: VALUE,
  completed_at: VALUE,
  status: VALUE,
  incomplete_details: { reason: VALUE },
  max_output_tokens: VALUE,
  model: VALUE,
  output: ITEM,
  output_text: VALUE,
  parallel_tool_calls: VALUE,
  reasoning: { effort: VALUE, summary: VALUE, context: VALUE },
  temperature: VALUE,
  text: { format: { type: VALUE, name: VALUE }, verbosity: VALUE },
  tool_choice: WHOLE,
  top_logprobs: VALUE,
  top_p: VALUE,
  truncation: VALUE,
};
const EVENT: Fields = {
  type: VALUE,
  sequence_number: VALUE,
  output_index: VALUE,
  content_index: VALUE,
  summary_index: VALUE,
  annotation_index: VALUE,
  item_id: VALUE,
  response: RESPONSE,
  item: ITEM,
  part: PART,
  annotation: ANNOTATION,
  delta: VALUE,
  text: VALUE,
  refusal: VALUE,
  name: VALUE,
  arguments: WHOLE,
  input: WHOLE,
  logprobs: LISTED_TOKEN,
  obfuscation: VALUE,
};

/** The lists, for the documents. */
export const VISIBLE_RESPONSE_FIELDS = { response: RESPONSE, event: EVENT } as const;

export function visibleResponse(response: JsonObject): JsonObject {
  return visibleObject(response, RESPONSE);
}

export function visibleEvent(event: JsonObject): JsonObject {
  return visibleObject(event, EVENT);
}
