import { FAILPOINTS } from '../../../packages/service/src/kernel/faults/failpoint.ts';
import type { AnswerPlan } from './plan.ts';
import { FREE_ANSWER } from './provider.ts';

/** One failpoint, reached by one plain or streamed call that was set up for it. */
export interface Case extends Situation {
  readonly failpoint: string;
  /** The name of its situation. */
  readonly situation: SituationName;
  /** Which hit of the failpoint counts in this situation, from 1. */
  readonly hit: number;
  readonly isStream: boolean;
}

interface Situation {
  readonly answer: AnswerPlan;
  /**
   * What is arranged besides the provider's answer. `left`: the client leaves while its hold waits for a lock. `locked`: the
   * settlement waits for a lock so long that it goes to the disk. `unstorable`: the settlement cannot be stored. `fenced`: the
   * process has been fenced. `poor`: the wallet is nearly empty. `keyed`: the call has an idempotency key. `replayed`: the
   * same, and it is sent again once it has been answered. `crowded`: two more calls of the same user come meanwhile.
   * `budgeted`: the key has a monthly budget.
   */
  readonly circumstance:
    | 'none'
    | 'left'
    | 'locked'
    | 'unstorable'
    | 'fenced'
    | 'poor'
    | 'keyed'
    | 'replayed'
    | 'crowded'
    | 'budgeted';
}

const FULL: AnswerPlan = {
  ...FREE_ANSWER,
  pieces: ['One ', 'two ', 'three'],
  usage: 'reported',
  promptTokens: 40,
  cachedTokens: 10,
  completionShare: 0.5,
};
/** This is more than a connection accepts before it applies back-pressure. */
const FILLER_BYTES = 400_000;

const SITUATIONS = {
  ordinary: { answer: FULL, circumstance: 'none' },
  failing: { answer: { ...FULL, kind: 'status', status: 500 }, circumstance: 'none' },
  broken: { answer: { ...FULL, kind: 'cut', completionShare: 0.9 }, circumstance: 'none' },
  overrun: { answer: { ...FULL, usage: 'overrun' }, circumstance: 'none' },
  slow: { answer: { ...FULL, fillerBytes: FILLER_BYTES }, circumstance: 'none' },
  left: { answer: FULL, circumstance: 'left' },
  locked: { answer: { ...FULL, waitMs: 800 }, circumstance: 'locked' },
  unstorable: { answer: FULL, circumstance: 'unstorable' },
  fenced: { answer: FULL, circumstance: 'fenced' },
  poor: { answer: FULL, circumstance: 'poor' },
  keyed: { answer: FULL, circumstance: 'keyed' },
  replayed: { answer: FULL, circumstance: 'replayed' },
  crowded: { answer: FULL, circumstance: 'crowded' },
  budgeted: { answer: FULL, circumstance: 'budgeted' },
} as const satisfies Record<string, Situation>;

type SituationName = keyof typeof SITUATIONS;

interface Reached {
  readonly situation: SituationName;
  readonly kinds?: 'plain' | 'streamed';
  readonly hit?: number;
}

/** The situations of each failpoint: every path to it that leaves a different state behind. The first matching pattern counts. */
const WAYS: readonly (readonly [names: RegExp, ways: readonly Reached[]])[] = [
  [/^chat\.plain/, [{ situation: 'ordinary', kinds: 'plain' }]],
  [/^chat\.write/, [{ situation: 'slow', kinds: 'streamed' }]],
  [/^stream\./, [{ situation: 'ordinary', kinds: 'streamed' }]],
  [
    /^lane\.settle/,
    [
      { situation: 'ordinary' },
      { situation: 'failing' },
      { situation: 'broken', kinds: 'streamed' },
      { situation: 'left', kinds: 'streamed' },
    ],
  ],
  [
    /^provider\.complete/,
    [
      { situation: 'ordinary', kinds: 'plain' },
      { situation: 'failing', kinds: 'plain' },
    ],
  ],
  [
    /^provider\.stream/,
    [
      { situation: 'ordinary', kinds: 'streamed' },
      { situation: 'failing', kinds: 'streamed' },
    ],
  ],
  [
    /^chunks\.rest/,
    [
      { situation: 'ordinary', kinds: 'streamed' },
      { situation: 'broken', kinds: 'streamed' },
    ],
  ],
  [/^writer\.fail/, [{ situation: 'broken', kinds: 'streamed' }]],
  [/^(chunks|writer)\./, [{ situation: 'ordinary', kinds: 'streamed' }]],
  [/^spool\./, [{ situation: 'locked' }]],
  [/^answers\.keep/, [{ situation: 'keyed' }]],
  [/^answers\.find/, [{ situation: 'replayed' }]],
  // A fenced process places its hold with two statements: the first is refused, and the second has a new id.
  [/^statement\.ledger-place-one/, [{ situation: 'ordinary' }, { situation: 'fenced', hit: 2 }]],
  [/^statement\.ledger-reserve-/, [{ situation: 'poor' }, { situation: 'budgeted' }]],
  [/^statement\.ledger-settle-one/, [{ situation: 'ordinary' }]],
  [/^statement\.ledger-turn/, [{ situation: 'crowded' }, { situation: 'crowded', hit: 2 }]],
  [/^statement\.ledger-settle-/, [{ situation: 'overrun' }, { situation: 'budgeted' }]],
  [/^hold\.release/, [{ situation: 'unstorable' }]],
  [/^instance\./, [{ situation: 'fenced' }]],
  [/./, [{ situation: 'ordinary' }]],
];

/** Names a case, in reports, logs and choices of cases. */
export function nameOf({ failpoint, situation, hit, isStream }: Omit<Case, keyof Situation>): string {
  return `${failpoint}:${situation}${hit > 1 ? hit : ''}:${isStream ? 'streamed' : 'plain'}`;
}

/**
 * Every failpoint with a plain call, a streamed one or both, in every situation of `WAYS`. `names`: these cases alone, or all
 * of these failpoints. A name without a case is a mistake.
 */
export function casesOf(names?: readonly string[]): readonly Case[] {
  const all = FAILPOINTS.flatMap((failpoint) =>
    waysTo(failpoint).flatMap(({ situation, kinds, hit = 1 }) => {
      const streams = [false, true].filter((isStream) => kinds === undefined || isStream === (kinds === 'streamed'));
      return streams.map((isStream) => ({ failpoint, situation, hit, isStream, ...SITUATIONS[situation] }));
    }),
  );
  if (names === undefined) return all;
  const isNamed = (one: Case, name: string): boolean => name === one.failpoint || name === nameOf(one);
  const lost = names.filter((name) => !all.some((one) => isNamed(one, name)));
  if (lost.length > 0) throw new Error(`There is no case of ${lost.join(', ')}.`);
  return all.filter((one) => names.some((name) => isNamed(one, name)));
}

/** Whether calls pass the failpoint by themselves. The others are reached only if a situation is set up for it. */
export function isOrdinary(failpoint: string): boolean {
  return waysTo(failpoint).some(({ situation }) => situation === 'ordinary' || situation === 'crowded');
}

function waysTo(failpoint: string): readonly Reached[] {
  return WAYS.find(([names]) => names.test(failpoint))?.[1] ?? [];
}
