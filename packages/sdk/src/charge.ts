import type { Answer } from './platform.ts';

/** What a call was charged, as its answer says. */
export interface Charge {
  /** The id of the call, for `receipt`. */
  readonly callId: string;
  readonly chargeMicros: number;
  /** Whether the answer is that of an earlier call, given again. It was charged once, so do not count it twice. */
  readonly isReplayed: boolean;
}

/**
 * The comment that ends a stream, and the frame behind it, which chat completions have. Text of a model cannot forge them: it has no
 * line breaks in a frame.
 */
const END = /\n: charge-micros=(\d+) call-id=\S+\n\n(?:data: \[DONE\]\n\n)?$/;
/** The bytes that are kept to find the end of a stream, which is shorter. */
const END_BYTES_MAX = 200;

/**
 * Calls `onCharge` with the charge of an answer, and returns the answer for the client. The charge of a stream is known
 * when its end has been read. A call that was refused, that failed, or whose stream was left early has none.
 */
export function tellCharge(answer: Answer, onCharge: (charge: Charge) => void): Answer {
  const { headers, body } = answer;
  const tell = (micros: string | null | undefined): void => {
    const callId = headers.get('x-service-call-id');
    const isReplayed = headers.has('x-service-replayed');
    if (micros && callId) onCharge({ callId, chargeMicros: Number(micros), isReplayed });
  };
  const isStream = headers.get('content-type')?.startsWith('text/event-stream');
  if (!isStream || !body) {
    tell(headers.get('x-service-charge-micros'));
    return answer;
  }
  let tail = '';
  let isTold = false;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, out) => {
      tail = (tail + String.fromCharCode(...bytes.subarray(-END_BYTES_MAX))).slice(-END_BYTES_MAX);
      const end = isTold ? null : END.exec(tail);
      isTold ||= end !== null;
      tell(end?.[1]);
      out.enqueue(bytes);
    },
  });
  const watched = new Response(body.pipeThrough(watch), answer);
  return Object.defineProperty(watched, 'url', { value: answer.url });
}
