import type { Mutant } from '../mutant.ts';
import { adapter, chunkReader, chunkStream, endWatch, walking } from './places.ts';

const BEGUN = 'CC-11 ER-06 a streamed call: the provider begins and then';

/** Faults in what counts as a whole answer and in what is read of its usage. */
export const ANSWER_FAULTS: readonly Mutant[] = [
  {
    id: 'done-without-a-reason-free',
    clause: 'CC-11',
    edits: [chunkReader('        close();\n        return;', '        return;')],
    killer: walking('CC-11 a streamed call: the provider sends [DONE] without a finish reason'),
  },
  {
    id: 'usage-without-a-reason-free',
    clause: 'CC-11',
    edits: [endWatch('isReported ||= usage !== undefined && hasSaid', 'isReported = false')],
    killer: walking('CC-11 a streamed call: the provider reports usage but no finish reason, and ends'),
  },
  {
    id: 'running-usage-taken-for-the-end',
    clause: 'CC-11',
    edits: [endWatch('          isReported = false;\n', '          isReported = usage !== undefined;\n')],
    killer: walking(`${BEGUN} counts its usage as it goes and ends`),
  },
  {
    id: 'usage-before-the-text-taken-for-the-end',
    clause: 'CC-11',
    edits: [endWatch('          isReported = false;\n', '')],
    killer: walking(`${BEGUN} goes on after its usage and ends`),
  },
  {
    id: 'whole-stream-with-a-lost-end-free',
    clause: 'CC-11',
    edits: [chunkStream('LOST.has(error.kind) &&', 'error.kind === undefined &&')],
    killer: walking('CC-11 a streamed call: the provider resets after its finish reason'),
  },
  {
    id: 'plain-answer-without-a-reason-free',
    clause: 'CC-11',
    edits: [adapter('!choices.every(isFinished) && !choices.some(hasContent)', '!choices.every(isFinished)')],
    killer: walking('CC-11 a plain call: the provider gives no finish reason'),
  },
];
