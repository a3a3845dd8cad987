import type { Mutant } from '../mutant.ts';
import { holdRequest, inFile, ofFile } from './places.ts';

const validate = inFile('packages/service/src/gateway/request/validate-call.ts');
const ownForm = inFile('packages/service/src/gateway/wires/messages/native.ts');
const chunks = inFile('packages/service/src/providers/anthropic/native-chunks.ts');
const usage = inFile('packages/service/src/providers/anthropic/usage.ts');
const deltas = inFile('packages/service/src/providers/anthropic/native-deltas.ts');

const passing = ofFile('tests/conformance/messages-native.test.ts');
const charges = ofFile('tests/conformance/messages-native-charges.test.ts');
const forms = ofFile('packages/service/src/gateway/wires/messages/native.test.ts');

/** Faults in what is passed through to Claude, and what that holds and costs. */
export const MESSAGES_NATIVE_FAULTS: readonly Mutant[] = [
  {
    id: 'unpriced-marks-passed-through',
    clause: 'WA-07',
    edits: [validate('isMessages ? withoutUnpricedMarks(native, upstreams) : native', 'native')],
    killer: passing('WA-07 cache marks without a price do not reach Claude'),
  },
  {
    id: 'longer-context-passed-through',
    clause: 'WI-12',
    edits: [ownForm('(isLong || !LONGER_CONTEXT.test(name))', '(isLong || true)')],
    killer: passing('WI-12 what would cost more than the hold does not reach Claude'),
  },
  {
    id: 'compaction-passed-through',
    clause: 'WI-12',
    edits: [ownForm("typeof type === 'string' && FREE_EDIT.test(type)", "typeof type === 'string'")],
    killer: passing('WI-12 what would cost more than the hold does not reach Claude'),
  },
  {
    id: 'references-to-tools-not-held',
    clause: 'WA-07',
    edits: [holdRequest(' + imageTokens + tokensBeside', ' + imageTokens')],
    killer: forms('WA-07 a reference to a tool counts as all that the vendor makes of it'),
  },
  {
    id: 'refusal-of-claude-charged',
    clause: 'CC-11',
    edits: [usage("reason === 'refusal' && !hasOutput ?", "reason === 'nothing' && !hasOutput ?")],
    killer: charges('WI-02 a stream of Claude costs the same passed through and translated'),
  },
  {
    id: 'whole-answer-of-claude-free-by-a-late-error',
    clause: 'CC-11',
    edits: [chunks('isBilled: () => hasReason && usage.isCounted()', 'isBilled: () => false')],
    killer: charges('WI-02 a stream of Claude costs the same passed through and translated'),
  },
  {
    id: 'text-of-claude-not-counted',
    clause: 'CC-23',
    edits: [deltas("['text_delta', ['text', 'content']],", '')],
    killer: charges('CC-23 an answer of Claude without usage is charged by our own count, on either wire'),
  },
];
