import type { Mutant } from '../mutant.ts';
import { holdRequest, inFile, ofFile } from './places.ts';

const reading = inFile('packages/service/src/gateway/wires/embeddings/read.ts');
const adapter = inFile('packages/service/src/providers/openai-embeddings/adapter.ts');
const rejections = inFile('packages/service/src/gateway/idempotency/rejections.ts');

const embedding = ofFile('tests/conformance/embeddings.test.ts');

/** Faults in what embeddings hold and cost. */
export const EMBEDDINGS_FAULTS: readonly Mutant[] = [
  {
    id: 'batch-held-as-one-prompt',
    clause: 'WI-11',
    edits: [holdRequest('model.contextTokens * prompts;', 'model.contextTokens;')],
    killer: embedding('WI-11 each text of a batch has a context of its own'),
  },
  {
    id: 'vectors-charged-as-a-contradiction',
    clause: 'WI-11',
    edits: [adapter('completion: 0, ...report.counts', '...report.counts')],
    killer: embedding('WI-11 embeddings cost the input that was reported, and no more is held than its bytes'),
  },
  {
    id: 'missing-vectors-charged',
    clause: 'WI-11',
    edits: [adapter('data.length !== inputsOf(request)', 'data.length > inputsOf(request)')],
    killer: embedding('WI-11 CC-09 a provider that sends too few vectors costs nothing'),
  },
  {
    id: 'batch-too-large-for-an-answer-asked-for',
    clause: 'WI-11',
    edits: [reading('if (prompts <= most) return undefined;', 'if (prompts <= 2 * most) return undefined;')],
    killer: embedding('WI-11 more vectors than an answer can hold is refused before a hold'),
  },
  {
    id: 'rejection-remembered-without-the-settings',
    clause: 'CC-15',
    edits: [rejections(" + (asked.native?.text ?? '')", '')],
    killer: embedding('WI-11 CC-15 a rejection is remembered with the settings of its request'),
  },
];
