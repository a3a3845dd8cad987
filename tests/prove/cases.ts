import { FAILPOINTS } from '../../packages/service/src/kernel/failpoint.ts';
import { FREE_ANSWER } from './provider.ts';
import type { AnswerPlan } from './plan.ts';

/** One failpoint, reached by one plain or streamed call that is arranged for it. */
export interface Case {
  readonly failpoint: string;
  readonly isStream: boolean;
  readonly answer: AnswerPlan;
  /**
   * What is arranged besides the provider's answer: the client leaves while its hold waits for a lock; the settlement
   * waits for one, for so long that it goes to the disk; it cannot be stored; the process has been fenced; the wallet is
   * as good as empty.
   */
  readonly circumstance: 'none' | 'left' | 'locked' | 'unstorable' | 'fenced' | 'poor';
}

const FULL: AnswerPlan = {
  ...FREE_ANSWER,
  pieces: ['One ', 'two ', 'three'],
  usage: 'reported',
  promptTokens: 40,
  cachedTokens: 10,
  completionShare: 0.5,
};
/** More than a connection takes before it says that it is full. */
const FILLER_BYTES = 400_000;

const ONLY_PLAIN = /^(chat\.plain|lane\.provider|lane\.failure|lane\.settling|lane\.settled)/;
const ONLY_STREAMED = /^(chat\.stream|chat\.write|stream\.)/;

/** Every failpoint, with each kind of call that passes it: plain, streamed, or both. */
export function casesOf(names: readonly string[] = FAILPOINTS): readonly Case[] {
  return names.flatMap((failpoint) => {
    const kinds = [false, true].filter((isStream) => !(isStream ? ONLY_PLAIN : ONLY_STREAMED).test(failpoint));
    return kinds.map((isStream) => ({ failpoint, isStream, ...arrangementOf(failpoint) }));
  });
}

function arrangementOf(failpoint: string): Pick<Case, 'answer' | 'circumstance'> {
  if (/^(lane\.provider-failed|lane\.failure|stream\.open-fail)/.test(failpoint)) {
    return { answer: { ...FULL, kind: 'status', status: 500 }, circumstance: 'none' };
  }
  if (failpoint.startsWith('stream.fail'))
    return { answer: { ...FULL, kind: 'cut', completionShare: 0.9 }, circumstance: 'none' };
  if (/^(chat\.write|stream\.chunk-drained)/.test(failpoint))
    return { answer: { ...FULL, fillerBytes: FILLER_BYTES }, circumstance: 'none' };
  if (failpoint.startsWith('stream.unsent')) return { answer: FULL, circumstance: 'left' };
  if (failpoint.startsWith('hold.spool')) return { answer: { ...FULL, waitMs: 800 }, circumstance: 'locked' };
  if (failpoint === 'hold.judged') return { answer: FULL, circumstance: 'poor' };
  if (failpoint === 'hold.all-settled') return { answer: { ...FULL, usage: 'overrun' }, circumstance: 'none' };
  if (failpoint.startsWith('hold.release')) return { answer: FULL, circumstance: 'unstorable' };
  if (/^instance\.(fenced|replaced|repeated)/.test(failpoint)) return { answer: FULL, circumstance: 'fenced' };
  return { answer: FULL, circumstance: 'none' };
}
