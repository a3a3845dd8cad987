import type { Mutant } from '../mutant.ts';
import { holdRequest, inFile, ofFile } from './places.ts';

const told = inFile('packages/service/src/providers/anthropic/usage.ts');
const ownForm = inFile('packages/service/src/gateway/wires/messages/request/native.ts');
const marks = inFile('packages/service/src/gateway/request/cache-marks.ts');
const validate = inFile('packages/service/src/gateway/request/validate-call.ts');
const chunks = inFile('packages/service/src/providers/anthropic/native-chunks.ts');
const deltas = inFile('packages/service/src/providers/anthropic/native-deltas.ts');
const routes = inFile('packages/service/src/http/server.ts');

const frames = inFile('packages/service/src/providers/bedrock/claude-frames.ts');
const atBedrock = ofFile('tests/conformance/messages-bedrock.test.ts');
const charges = ofFile('tests/conformance/messages-native-charges.test.ts');
const passedOn = ofFile('tests/conformance/messages-native.test.ts');

const WHOLE = charges('WI-02 a whole answer of Claude costs the same passed through and translated');
const STREAM = charges('WI-02 a stream of Claude costs the same passed through and translated');
const HOLD = charges('WA-07 a hold for Claude covers its own form, and each reference to a tool');
const BOUND = passedOn('WI-12 what would cost more than the hold does not reach Claude');

/** Faults in what Messages that are passed through to Claude hold and cost. */
export const CLAUDE_MESSAGES_FAULTS: readonly Mutant[] = [
  {
    id: 'hour-of-a-cache-charged-as-five-minutes',
    clause: 'MO-08',
    edits: [told('Math.max(0, (all ?? long) - long), cacheWriteLong: long };', 'all ?? long };')],
    killer: WHOLE,
  },
  {
    id: 'hour-of-a-cache-charged-twice',
    clause: 'MO-08',
    edits: [told('Math.max(0, (all ?? long) - long)', 'all ?? long')],
    killer: WHOLE,
  },
  {
    id: 'cache-writes-of-claude-charged-as-input',
    clause: 'MO-08',
    edits: [told('noCache, cacheRead, cacheWrite },', 'noCache, cacheRead, cacheWrite: 0 },')],
    killer: STREAM,
  },
  {
    id: 'thoughts-of-claude-charged-beside-the-output',
    clause: 'MO-08',
    edits: [told('      total: output,', '      total: output + (Number(reasoning) || 0),')],
    killer: WHOLE,
  },
  {
    id: 'refusal-of-claude-charged-in-a-stream',
    clause: 'CC-23',
    edits: [told("reason === 'refusal' && !hasOutput ? NOTHING : wholeUsage", 'wholeUsage')],
    killer: STREAM,
  },
  {
    id: 'refusal-behind-a-text-of-claude-is-free',
    clause: 'CC-23',
    edits: [told("reason === 'refusal' && !hasOutput", "reason === 'refusal'")],
    killer: STREAM,
  },
  {
    id: 'refusal-of-claude-charged-in-a-whole-answer',
    clause: 'CC-23',
    edits: [told('return isFree ? NOTHING : wholeUsage', 'return wholeUsage')],
    killer: WHOLE,
  },
  {
    id: 'steps-of-claude-charged-as-the-last-one',
    clause: 'WI-02',
    edits: [told("({ type }) => type === 'compaction' || type === 'message')", "({ type }) => type === 'message')")],
    killer: WHOLE,
  },
  {
    id: 'own-form-for-claude-not-held-for',
    clause: 'WA-07',
    edits: [holdRequest('Math.max(innerBytes, Buffer.byteLength(native.text))', 'innerBytes')],
    killer: HOLD,
  },
  {
    id: 'tools-that-are-referred-to-not-held-for',
    clause: 'WA-07',
    edits: [holdRequest('imageTokens + tokensBeside +', 'imageTokens +')],
    killer: HOLD,
  },
  {
    id: 'compaction-reaches-claude',
    clause: 'WI-12',
    edits: [ownForm("typeof type === 'string' && FREE_EDIT.test(type)", "typeof type === 'string'")],
    killer: BOUND,
  },
  {
    id: 'longer-context-than-held-for-reaches-claude',
    clause: 'WI-12',
    edits: [ownForm("name !== '' && (isLong || !LONGER_CONTEXT.test(name))", "name !== ''")],
    killer: BOUND,
  },
  {
    id: 'unpriced-cache-marks-of-the-system-reach-claude',
    clause: 'WA-07',
    edits: [marks('withoutMarks(system, isPriced)', 'system')],
    killer: passedOn('WA-07 cache marks without a price do not reach Claude'),
  },
  {
    id: 'count-of-tokens-makes-the-call',
    clause: 'WI-10',
    edits: [routes('handleCount(dataPlane, wire, exchange)', 'handleCall(dataPlane, wire, exchange)')],
    killer: passedOn('WI-10 a prompt for Claude is counted by its vendor, and else by our estimate'),
  },
  {
    id: 'unpriced-cache-marks-reach-claude',
    clause: 'WA-07',
    edits: [validate('isMessages ? withoutUnpricedMarks(native, upstreams) : native', 'native')],
    killer: passedOn('WA-07 cache marks without a price do not reach Claude'),
  },
  {
    id: 'whole-answer-of-claude-free-by-a-late-error',
    clause: 'CC-11',
    edits: [chunks('isBilled: () => hasReason && usage.isCounted()', 'isBilled: () => false')],
    killer: STREAM,
  },
  {
    id: 'text-of-claude-not-counted',
    clause: 'CC-23',
    edits: [deltas("['text_delta', ['text', 'content']],", '')],
    killer: charges('CC-23 an answer of Claude without usage is charged by our own count, on either wire'),
  },
  {
    id: 'torn-frame-behind-an-answer-of-bedrock-makes-it-free',
    clause: 'CC-11',
    edits: [frames('if (!messages.isComplete()) throw failure;', 'throw failure;')],
    killer: atBedrock('CC-11 a stream of Claude at Bedrock that breaks off is free'),
  },
];
