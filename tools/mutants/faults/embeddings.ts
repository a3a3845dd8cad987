import type { Mutant } from '../mutant.ts';
import { holdRequest, inFile, ofFile } from './places.ts';

const reading = inFile('packages/service/src/gateway/wires/embeddings/read.ts');
const vectors = inFile('packages/service/src/providers/embeddings/vectors.ts');
const parts = inFile('packages/service/src/providers/embeddings/in-parts.ts');
const capabilities = inFile('packages/service/src/providers/capabilities/embeddings.ts');
const rejections = inFile('packages/service/src/gateway/retries/rejections.ts');

const embedding = ofFile('tests/conformance/embeddings.test.ts');
const atVendor = ofFile('tests/conformance/embeddings-vendors.test.ts');

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
    edits: [vectors('completion: 0, ...report.counts', '...report.counts')],
    killer: embedding('WI-11 embeddings cost the input that was reported, and no more is held than its bytes'),
  },
  {
    id: 'missing-vectors-charged',
    clause: 'WI-11',
    edits: [vectors('data.length !== inputsOf(request)', 'data.length > inputsOf(request)')],
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
  {
    id: 'batch-goes-on-after-a-failure',
    clause: 'WI-11',
    edits: [parts('        isFailed = true;\n', '')],
    killer: atVendor('WI-11 CC-09 a batch of which one request fails costs nothing'),
  },
  {
    id: 'one-part-of-a-batch-charged',
    clause: 'WI-11',
    edits: [parts('usage: sumOf(answers.map(({ usage }) => usage)),', 'usage: first.usage,')],
    killer: atVendor('WI-11 a batch is sent in the requests that its vendor takes'),
  },
  {
    id: 'no-count-of-tokens-is-free',
    clause: 'WI-11',
    edits: [
      vectors(
        "if (typeof tokens !== 'number' || !(tokens > 0)) return undefined;",
        "if (typeof tokens !== 'number') tokens = 0;",
      ),
      vectors(
        'Math.ceil(tokens), total_tokens: Math.ceil(tokens)',
        'Number(tokens) || 0, total_tokens: Number(tokens) || 0',
      ),
    ],
    killer: atVendor('WI-11 vectors of google without a count cost our estimate'),
  },
  {
    id: 'tokens-held-for-a-vendor-of-texts',
    clause: 'WI-11',
    edits: [capabilities('if (hasTokens(input)) {', 'if (hasTokens(dimensions)) {')],
    killer: atVendor('WI-11 MO-09 google refuses tokens by name, before a hold'),
  },
];
