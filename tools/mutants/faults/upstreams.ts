import type { Mutant } from '../mutant.ts';
import {
  fallingBack,
  health,
  liveLane,
  plainCall,
  routing,
  routeFailure,
  stream,
  tryRoute,
  usage,
  whenToOpen,
} from './places.ts';

/** Faults in how a call goes from upstream to upstream. */
export const UPSTREAM_FAULTS: readonly Mutant[] = [
  {
    id: 'broken-stream-asked-again',
    clause: 'CC-11',
    edits: [
      // Waits for the whole stream before it is called answered, so that its break is one before the first chunk.
      stream('      route.answered();\n', '      await chunks.rest(() => true);\n      route.answered();\n'),
    ],
    killer: fallingBack('CC-11 a stream broken after one chunk is free'),
  },
  {
    id: 'rejected-call-asked-elsewhere',
    clause: 'CC-16',
    edits: [routeFailure("  rejected: { evidence: 'none' },", "  rejected: { evidence: 'none', rank: 5 },")],
    killer: routing('CC-16 a call asks no other upstream after: rejected'),
  },
  {
    id: 'dearer-than-the-hold-asked',
    clause: 'CC-16',
    edits: [tryRoute('if (place > 0 && !isCovered(', 'if (place < 0 && !isCovered(')],
    killer: fallingBack('CC-16 an upstream dearer than the hold is skipped'),
  },
  {
    id: 'charged-by-the-first-upstream',
    clause: 'CC-16',
    edits: [
      plainCall(
        "endingOf(hold, 'answered', { ...told, upstream,",
        "endingOf(hold, 'answered', { ...told, upstream: call.upstreams[0],",
      ),
    ],
    killer: fallingBack('CC-16 a plain call whose first upstream is throttled is served by the next'),
  },
  {
    id: 'stream-charged-by-the-first-upstream',
    clause: 'CC-16',
    edits: [stream('createStreamTally(hold, route)', 'createStreamTally(hold, { upstream: call.upstreams[0] })')],
    killer: fallingBack('CC-16 a silent upstream’s stream is served by the next'),
  },
  {
    id: 'receipt-with-the-first-price',
    clause: 'CC-16',
    edits: [
      liveLane(
        'priceId: priceId ?? hold.call.upstreams[0].price.priceId',
        'priceId: hold.call.upstreams[0].price.priceId',
      ),
    ],
    killer: fallingBack('CC-16 a plain call whose first upstream is throttled is served by the next'),
  },
  {
    id: 'hold-of-the-dearest-charged',
    clause: 'WA-07',
    edits: [usage('call.upstreams.length > 1 && ceiling < granted ? ceiling : granted', 'granted')],
    killer: fallingBack('WA-07 content past its limit costs its upstream’s hold'),
  },
  {
    id: 'breaker-never-opens',
    clause: 'CC-16',
    edits: [health('if (failures < FAILURES_MIN ||', 'if (failures >= 0 ||')],
    killer: fallingBack('CC-16 an upstream that keeps failing is asked last'),
  },
  {
    id: 'breaker-opens-on-one-failure',
    clause: 'CC-16',
    edits: [health('const FAILURES_MIN = 3;', 'const FAILURES_MIN = 1;')],
    killer: whenToOpen('CC-16 one failure opens no breaker, three of three do'),
  },
  {
    id: 'breaker-never-closes',
    clause: 'CC-16',
    edits: [
      health('    this.#openUntilMs = undefined;\n    this.#isTesting = false;\n', '    this.#isTesting = false;\n'),
    ],
    killer: whenToOpen('CC-16 an open breaker tests one call and closes on success'),
  },
  {
    id: 'breaker-tests-with-every-call',
    clause: 'CC-16',
    edits: [health('if (nowMs >= this.#openUntilMs) this.#isTesting = true;', '')],
    killer: routing('CC-16 an upstream with an open breaker goes last'),
  },
  {
    id: 'left-caller-asked-for-elsewhere',
    clause: 'CC-16',
    edits: [tryRoute('if (this.#gone.aborted || this.tries', 'if (this.tries')],
    killer: fallingBack('CC-16 an abandoned call asks no other upstream'),
  },
];
