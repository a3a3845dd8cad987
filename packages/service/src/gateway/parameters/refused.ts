/** Parameters of the compatible format that have no price here, each with what to do instead. A `null` counts as absent. */
export const REFUSED_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['audio', 'Sound has no price here.'],
  ['function_call', 'It is deprecated: use `tool_choice`.'],
  ['functions', 'It is deprecated: use `tools`.'],
  ['moderation', 'It has no price here: moderate with a call of your own.'],
  ['prediction', 'What a model rejects of a prediction is billed as output, and has no price here.'],
  ['web_search_options', 'Searches cost a fee each, which has no price here: offer a search of your own in `tools`.'],
]);

const ROUTING = 'Which provider serves a model is up to this service: name one model in `model`.';
const PLAIN_MESSAGES = 'Send the `messages` as the model should read them.';
const SAMPLING = 'Use `temperature` or `top_p`.';
const ENDPOINT = 'This endpoint takes `messages`: choose the chat-completions interface of your client.';
const SYSTEM_MESSAGE = 'Send it in `messages`, with the role "system".';
const WHOLE_CONVERSATION = 'Send the whole conversation in `messages`: none is kept here.';

/** Names of other interfaces and of other gateways, each with what to use here. */
const FOREIGN_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['best_of', 'Use `n`: each choice is charged.'],
  ['cache_control', 'Use `prompt_cache_key`.'],
  ['contents', ENDPOINT],
  ['conversation', WHOLE_CONVERSATION],
  ['input', ENDPOINT],
  ['extra_body', 'Send its members on their own: clients that have it do.'],
  ['instructions', SYSTEM_MESSAGE],
  ['max_output_tokens', 'Use `max_completion_tokens`.'],
  ['min_p', SAMPLING],
  ['models', ROUTING],
  ['plugins', PLAIN_MESSAGES],
  ['previous_response_id', WHOLE_CONVERSATION],
  ['prompt', ENDPOINT],
  ['provider', ROUTING],
  ['reasoning', 'Use `reasoning_effort`.'],
  ['repetition_penalty', 'Use `frequency_penalty` or `presence_penalty`.'],
  ['route', ROUTING],
  ['session_id', 'Use `prompt_cache_key`.'],
  ['stop_sequences', 'Use `stop`.'],
  ['system', SYSTEM_MESSAGE],
  ['text', 'Use `response_format`.'],
  ['top_a', SAMPLING],
  ['top_k', SAMPLING],
  ['transforms', PLAIN_MESSAGES],
  ['use_beam_search', 'It generates more than it returns, and has no price here.'],
  ['usage', 'A plain answer has its usage anyway, a stream with `"stream_options": {"include_usage": true}`.'],
]);

/** What to do instead of sending this parameter; undefined if we know no advice. */
export function adviceOn(name: string): string | undefined {
  return REFUSED_PARAMETERS.get(name) ?? FOREIGN_PARAMETERS.get(name);
}

/** The parameter by which a request without `messages` shows that it is meant for another endpoint. */
export function findOtherEndpoint(request: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(request).find((name) => FOREIGN_PARAMETERS.get(name) === ENDPOINT);
}
