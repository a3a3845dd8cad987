import type { Code } from '../../../support/refusal.ts';
import { frame, type UpstreamStep } from '../../../support/scripted-upstream.ts';
import * as path from './path.ts';

const { CANARY, chunk, DONE, FAILED, FINISH, FIRST, FREE, NEVER, REPORT, SECOND, STREAMED, THROTTLED } = path;

const COMMENT = { write: `: ${CANARY}\n\n` };

/** The outcome of a stream whose beginning the caller has read. */
type Row = readonly [what: string, tail: readonly UpstreamStep[], code: Code, model?: path.PathModel];

const TAILS: readonly Row[] = [
  ['resets', [{ destroy: true }], FAILED],
  ['falls silent', [NEVER], FAILED, 'hasty'],
  ['falls silent after more', [SECOND, NEVER], FAILED, 'hasty'],
  ['sends nothing but comments', Array.from({ length: 100 }, () => [COMMENT, { waitMs: 300 }]).flat(), FAILED, 'hasty'],
  ['ends without a finish reason', [SECOND], FAILED],
  ['finishes one of two choices', [chunk({ content: 'b' }, null, 1), chunk({}, 'stop', 1)], FAILED],
  ['counts its usage as it goes and ends', [path.running('?', path.USAGE)], FAILED],
  ['goes on after its usage and ends', [REPORT, SECOND], FAILED],
  ['sends an error', [{ write: frame({ error: { message: CANARY, code: 'CANARY' } }) }], FAILED],
  ['sends an error and stays', [{ write: frame({ error: { message: CANARY } }) }, NEVER], FAILED],
  ['sends an error that is a string', [{ write: frame({ error: CANARY, error_type: 'CANARY' }) }], FAILED],
  ['sends an error next to choices', [{ write: frame({ choices: [], error: { message: CANARY } }) }], FAILED],
  ['sends an error after its usage', [REPORT, { write: frame({ error: { message: CANARY } }) }], FAILED],
  ['sends an error after its finish reason', [FINISH, { write: frame({ error: { message: CANARY } }) }], FAILED],
  ['sends a chunk of the type error', [{ write: frame({ object: 'error', message: CANARY, code: 400 }) }], FAILED],
  ['sends an event named error', [{ write: `event: error\n${frame({ message: CANARY })}` }], FAILED],
  ['throttles', [{ write: frame({ error: { message: CANARY, code: 'rate_limit_exceeded' } }) }], THROTTLED],
  ['throttles with a number', [{ write: frame({ error: { code: 429 } }) }], THROTTLED],
  ['sends a frame that is not JSON', [{ write: frame(CANARY) }, FINISH, DONE], FAILED],
  ['sends a frame that is not an object', [{ write: frame([CANARY]) }, FINISH, DONE], FAILED],
  ['sends choices that are not a list', [{ write: frame({ choices: CANARY }) }, NEVER], FAILED],
  ['sends bytes that are not UTF-8', [{ write: Buffer.from([0x64, 0x61, 0xff, 0x0a, 0x0a]) }, NEVER], FAILED],
  ['sends an event that never ends', [{ write: `data: ${'a'.repeat(3 * 1024 * 1024)}` }, NEVER], FAILED],
  ['ends in the middle of a frame', [{ write: 'data: {"choices":[{"index":0,"delta":{"content":"CANARY' }], FAILED],
];

/** Failures of the provider after the first byte of a stream. They end with an error frame (ER-06) and are free (CC-11). */
export const PROVIDER_BREAKS: readonly path.Path[] = TAILS.map(([what, tail, code, model = 'large']) => ({
  clause: 'CC-11 ER-06',
  what: `the provider begins and then ${what}`,
  kinds: STREAMED,
  model,
  provider: (_answer, goneOn) => ({ body: [FIRST, { waitFor: goneOn }, ...tail] }),
  caller: { reads: 'begun' },
  gets: { frame: code },
  ends: FREE,
}));
