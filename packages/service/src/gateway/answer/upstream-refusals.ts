import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { UpstreamError, UpstreamErrorKind } from '#providers/port/provider.ts';

export type UpstreamRefusalCode = 'UPSTREAM_THROTTLED' | 'UPSTREAM_PROVIDER_ERROR';

/** What a caller learns about a failure: `error.type`, and our words for it. */
interface Told {
  readonly type: string;
  readonly message: string;
}

const LATER = 'Nothing was charged: try again later, or use another model.';
const BROKEN: Told = {
  type: 'upstream_broken',
  message: `The model provider’s answer was broken or ended early. ${LATER}`,
};
const GIVEN_UP: Told = { type: 'upstream_error', message: 'The call was given up. Nothing was charged.' };

/**
 * These are our words for each kind of failure (CC-17). A provider's own text may hold anything, so none is shown
 * (ER-03). A prompt that its provider finds too long is a 502 like every rejection: a 400 means that no provider was
 * reached (CC-08).
 */
const TOLD: Readonly<Record<Exclude<UpstreamErrorKind, 'throttled'>, Told>> = {
  'too-long': {
    type: 'context_length_exceeded', // The name by which clients of the format know it.
    message:
      'The prompt, together with the output limit, is longer than the context of this model. Nothing was charged. Send fewer or shorter messages, or a smaller `max_completion_tokens`: a retry of the same request fails again.',
  },
  rejected: {
    type: 'upstream_rejected',
    message:
      'The model provider rejected this request. Nothing was charged. Change the request or use another model: a retry of the same request fails again.',
  },
  unauthorized: {
    type: 'upstream_unauthorized',
    message:
      'The model provider does not take calls of this service for this model at present. Nothing was charged. Use another model: a retry fails until the operator of this service has acted.',
  },
  refused: {
    type: 'upstream_refused',
    message:
      'The model provider refused the call. Nothing was charged. Change the request or use another model: a retry probably fails again.',
  },
  timeout: { type: 'upstream_timeout', message: `The model provider did not answer in time. ${LATER}` },
  outage: { type: 'upstream_outage', message: `The model provider is down or failed. ${LATER}` },
  malformed: BROKEN,
  'too-large': BROKEN,
  cut: BROKEN,
  unsent: GIVEN_UP,
  'given-up': GIVEN_UP,
};

/** This is the time if the provider does not say how long to wait. */
const THROTTLE_RETRY_SECONDS = 2;
/** Stock clients ignore a longer wait and come at once, and some wait for as long as they are told, without an end (ER-05). */
const RETRY_SECONDS_MAX = 60;

/** Tells a caller that the provider failed (CC-09). Only a throttled call may be retried by itself (ER-05). */
export function refusalOfUpstream(error: UpstreamError): Refusal<UpstreamRefusalCode> {
  if (error.kind === 'throttled') return throttled(error);
  const { message, ...detail } = TOLD[error.kind];
  return refuse('UPSTREAM_PROVIDER_ERROR', message, detail);
}

function throttled({ retryAfterSeconds: seconds = THROTTLE_RETRY_SECONDS, isOwnLimit }: UpstreamError): Throttled {
  const retryAfterSeconds = Math.min(Math.max(1, Math.ceil(seconds)), RETRY_SECONDS_MAX);
  const isLong = seconds > RETRY_SECONDS_MAX;
  const advice = isLong ? 'It asks to wait for longer than a minute: use another model meanwhile.' : 'Try again.';
  const message = isOwnLimit
    ? `This service sends no more calls to the model provider at the moment: its own limit is used up. Nothing was charged. Try again after ${retryAfterSeconds} s.`
    : `The model provider is throttling calls. Nothing was charged. ${advice}`;
  return refuse('UPSTREAM_THROTTLED', message, { retryAfterSeconds });
}

type Throttled = Refusal<'UPSTREAM_THROTTLED'>;
