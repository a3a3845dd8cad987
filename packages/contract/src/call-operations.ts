import { type Operation, tagged } from './operation.ts';

/** What refuses a call beside what refuses every request, by any wire. */
const OF_CALLS: NonNullable<Operation['refuses']> = [
  'MODEL_NOT_ENTITLED',
  'KEY_BUDGET_EXCEEDED',
  'PAYMENT_REQUIRED',
  'APP_SPEND_CAP_EXCEEDED',
  'WALLET_SUSPENDED',
  'CONCURRENT_STREAM_LIMIT',
  'CONFLICT',
  'UPSTREAM_THROTTLED',
  'UPSTREAM_PROVIDER_ERROR',
];

/** The operations with which an app calls models and learns what they cost. */
export const CALL_OPERATIONS = tagged('Calls of models', {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    summary: 'Answers a conversation and charges the user’s wallet',
    description:
      'Before the call, the service sets aside the most that it can cost. Afterwards it charges the actual cost. A refused call costs nothing. With `"stream": true`, the answer is a stream of server-sent events that ends with `data: [DONE]`. Before that, the comment `: charge-micros=84 call-id=...` says what the call was charged, and so does `charge_micros` in the chunk with the usage. If an error occurs after the stream has begun, its last event is the error envelope, with a text as `choices` and without `[DONE]`. A parameter that is `null` counts as left out.',
    refuses: OF_CALLS,
  },
  'POST /v1/responses': {
    id: 'createResponse',
    summary: 'Answers a conversation in the form of Responses and charges the user’s wallet',
    description:
      'The same call by the interface that OpenAI calls Responses: the same checks, the same price for the same usage. Nothing is stored, so `previous_response_id`, `conversation`, `background` and `"store": true` are refused; an `item_reference` works with the ids that this service gave. With `"stream": true`, the answer is a stream of events that ends with `response.completed`, `response.incomplete`, or, if it failed, `response.failed` and an `error` event. A comment behind the end of a charged stream says what it cost, and so does `charge_micros` in the last `response`. Tools of vendors are left out beside other tools, and `x-service-left-out` names them; the only tool, or one that `tool_choice` names, is refused.',
    refuses: OF_CALLS,
  },
  'POST /v1/messages': {
    id: 'createMessage',
    summary: 'Answers a conversation in the form of Messages and charges the user’s wallet',
    description:
      'The same call by the interface that Anthropic calls Messages, at the same price for the same usage. The key may also come in `x-api-key`. Errors have the form that clients of this interface read, with all fields of ours in it. A `max_tokens` above what the model or the wallet allows gets a 400 in the vendor’s words, which name the limit. With `"stream": true`, the answer is a stream of events that ends with `message_stop`, or, if it failed, with an `error` event; `charge_micros` in its `message_delta`, and a comment behind its end, say what the call was charged. Server tools that cost a fee are refused by name.',
    refuses: OF_CALLS,
  },
  'POST /v1/messages/count_tokens': {
    id: 'countMessageTokens',
    summary: 'Counts the tokens of a prompt in the form of Messages',
    description:
      'It costs nothing. Where the vendor of the model counts prompts of Messages, the count is theirs; elsewhere, and in the sandbox, it is our own estimate, and `is_estimated` is true.',
    refuses: ['MODEL_NOT_ENTITLED'],
  },
  'POST /v1/embeddings': {
    id: 'createEmbeddings',
    summary: 'Makes vectors of texts and charges the user’s wallet',
    description:
      'Takes models of embeddings, and they take no other call. What is set aside is the most that the input can cost, and the tokens of the input are charged. A batch whose vectors may be too large for one answer is refused: `"encoding_format": "base64"` takes a sixth of the room. Some models take texts and no tokens, and fewer texts: what they do not take is refused by name.',
    refuses: OF_CALLS.filter((code) => code !== 'CONCURRENT_STREAM_LIMIT'),
  },
  'GET /v1/models': { id: 'listModels', summary: 'Lists the models and aliases that the app may call' },
  'GET /v1/models/{model}': {
    id: 'getModel',
    summary: 'Shows one model or alias',
    description: 'The name may contain slashes, encoded or not.',
    refuses: ['NOT_FOUND', 'MODEL_NOT_ENTITLED'],
  },
  'GET /prices': {
    id: 'listModelPrices',
    summary: 'Lists the prices and limits of the models that the app may call',
    description:
      'These are the prices by which calls are charged now, including the operator’s margin. A charge is computed exactly and rounded up once, so it may be a little below what these rates give.',
  },
});
