import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type ApiErrorFacts } from './api-error.ts';
import { deliver, type Exchange, type Manner } from './deliver.ts';

/** What a model does with a request. Each name of `BEHAVIOURS` is a way in which a real provider can behave. */
export interface Behaviour {
  /** What the model does, in the words of the README. */
  readonly about: string;
  readonly perform: (exchange: Exchange) => Promise<void>;
}

const HANG_MS_MAX = 30 * 60 * 1000; // Longer than anybody waits for an answer. Then the connection breaks.
const PLAIN: Manner = { pieceDelayMs: 0, reportsUsage: true, reasoningTokens: 0, cachedShare: 0, ending: 'whole' };

/** Every model of the simulator by name. */
export const BEHAVIOURS = {
  'sim-echo': {
    about: 'Answers at once: says that it is the built-in simulator, and repeats part of the question.',
    perform: answering(PLAIN),
  },
  'sim-slow': {
    about: 'The answer of `sim-echo`, one word every 100 ms; not streamed, the whole answer after the same time.',
    perform: answering({ ...PLAIN, pieceDelayMs: 100 }),
  },
  'sim-cached': {
    about: 'Reports half of the prompt as cached, and 32 reasoning tokens before each choice.',
    perform: answering({ ...PLAIN, reasoningTokens: 32, cachedShare: 0.5 }),
  },
  'sim-no-usage': {
    about: 'Answers, but never reports usage, not even when asked.',
    perform: answering({ ...PLAIN, reportsUsage: false }),
  },
  'sim-truncated': {
    about: 'Ends cleanly halfway: a stream without finish reason, usage or `[DONE]`, a body with a null finish reason.',
    perform: answering({ ...PLAIN, ending: 'truncated' }),
  },
  'sim-cut': {
    about: 'Breaks the connection after half of the stream or half of the body.',
    perform: answering({ ...PLAIN, ending: 'cut' }),
  },
  'sim-hangs': {
    about: 'Accepts the request and never answers (after 30 minutes it breaks the connection).',
    perform: hang,
  },
  'sim-garbage': {
    about: 'Answers 200 and sends bytes that are neither JSON nor events.',
    perform: sendGarbage,
  },
  'sim-throttled': {
    about: 'Refuses with 429 and `retry-after: 2`.',
    perform: refusing({
      status: 429,
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'Too many requests for `sim-throttled` in organization sim-org-42: wait 2 seconds.',
      headers: { 'retry-after': '2' },
    }),
  },
  'sim-error': {
    about: 'Fails with 500.',
    perform: refusing({
      status: 500,
      type: 'server_error',
      message: 'The simulated engine failed on host sim-host-7. Nothing is wrong with the request.',
    }),
  },
  'sim-rejects': {
    about: "Refuses with 400 and a text like a provider's, including its internal names.",
    perform: refusing({
      status: 400,
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
      message:
        'sim-host-7: 9001 tokens exceed the context of 8192 (deployment sim-internal-3, organization sim-org-42).',
    }),
  },
} as const satisfies Readonly<Record<string, Behaviour>>;

/** The behaviour of a model; undefined if there is no such model. */
export function findBehaviour(model: string): Behaviour | undefined {
  return Object.hasOwn(BEHAVIOURS, model) ? BEHAVIOURS[model as keyof typeof BEHAVIOURS] : undefined;
}

function answering(manner: Manner): Behaviour['perform'] {
  return (exchange) => deliver(exchange, manner);
}

/** Refuses every request. The messages name invented internals, so that tests can prove the gateway passes none on. */
function refusing(facts: ApiErrorFacts): Behaviour['perform'] {
  return () => Promise.reject(new ApiError(facts));
}

/** Never answers. It ends when the client leaves, so that no timer is left behind. */
async function hang({ response, signal }: Exchange): Promise<void> {
  await pause(HANG_MS_MAX, undefined, { signal });
  response.destroy();
}

// The last line looks like an event until its JSON is read; 0xff is never a byte of UTF-8.
const GARBAGE = Buffer.concat([
  Buffer.from([0x00, 0xff, 0xfe]),
  Buffer.from('<html>This is not the answer you are looking for.</html>\n\ndata: {"choices": [{]\n\n'),
]);

/** Claims success and sends bytes that no parser accepts. */
async function sendGarbage({ request, response }: Exchange): Promise<void> {
  response.writeHead(200, { 'content-type': request.isStream ? 'text/event-stream' : 'application/json' });
  response.end(GARBAGE);
}
