import type { Mutant } from '../mutant.ts';
import {
  chunkReader,
  counting,
  endWatch,
  inFile,
  ofFile,
  speaking,
  usage,
  usageDialects,
  usageReport,
} from './places.ts';

const generated = inFile('packages/service/src/gateway/usage/generated.ts');
const reportWatch = inFile('packages/service/src/gateway/stream/report-watch.ts');
const choiceUsages = inFile('packages/service/src/providers/answers/usages-of-choices.ts');
const events = inFile('packages/service/src/providers/transport/sse.ts');
const claudeFit = inFile('packages/service/src/providers/anthropic/fit.ts');
const claudeUsage = inFile('packages/service/src/providers/anthropic/usage.ts');
const geminiFit = inFile('packages/service/src/providers/google/fit.ts');
const bedrockUsage = inFile('packages/service/src/providers/bedrock/usage.ts');
const probe = inFile('packages/service/src/probe/probe.ts');

const charged = ofFile('tests/conformance/exact-charges.test.ts');
const ended = ofFile('tests/conformance/odd-endings.test.ts');
const claude = ofFile('tests/conformance/claude-answers.test.ts');
const adding = ofFile('packages/service/src/gateway/usage/usages-of-choices.test.ts');
const vendors = ofFile('tests/conformance/vendor-answers.test.ts');
const probing = ofFile('tests/integration/catalogue-probe.test.ts');

/** Faults in what is charged for answers that hold more than text, count early, end oddly, or count in words of their own. */
export const EXACT_CHARGE_FAULTS: readonly Mutant[] = [
  {
    id: 'bedrock-last-report-taken',
    clause: 'MO-08',
    edits: [bedrockUsage('usage === undefined ? told : largest(usage, told)', 'told')],
    killer: vendors('MO-08 a stream of Bedrock is charged by the larger report of each count'),
  },
  {
    id: 'usages-behind-all-reasons-not-added',
    clause: 'MO-08',
    edits: [choiceUsages('return isOneForEach() ? sumOfChoices(alone) : usage', 'return usage')],
    killer: adding('MO-08 usages of different choices add up, and their prompt counts once'),
  },
  {
    id: 'picture-counted-as-text',
    clause: 'WA-07',
    edits: [generated('visitText(refusal, visit) +', "visitText(JSON.stringify(message['images']), visit) +")],
    killer: charged('WA-07 CC-23 an image of 400 KB is charged by its usage and delivered whole'),
  },
  {
    id: 'picture-of-a-stream-cut-at-a-mebibyte',
    clause: 'WA-07',
    edits: [events('(characters <= ANSWER_BYTES_MAX && LONG.test(opening))', 'characters < 0')],
    killer: charged('WA-07 CC-23 an image of 1.5 MB is charged by its usage and delivered whole'),
  },
  {
    id: 'picture-free-for-who-leaves',
    clause: 'CC-11',
    edits: [usage('pictures * TOKENS_PER_PICTURE', '0')],
    killer: charged('CC-11 an early picture is not free for a caller who leaves'),
  },
  {
    id: 'early-usage-taken-for-the-last',
    clause: 'CC-11',
    edits: [reportWatch('isCurrent && (isFinished || isAlone || isRunning)', 'report !== undefined')],
    killer: charged('CC-11 a stream with usage on the first chunk is charged by our own count'),
  },
  {
    id: 'zeros-beside-text-taken-for-a-count',
    clause: 'CC-11',
    edits: [reportWatch('isCurrent = !(hasText && isOpen && !isRisen)', 'isCurrent = true')],
    killer: charged('CC-11 a whole stream with early usage alone is charged by our own count'),
  },
  {
    id: 'mirrored-reasoning-counted-twice',
    clause: 'CC-23',
    edits: [generated('if (!isRepeated) bytes', 'bytes')],
    killer: charged('CC-23 our own count has each text once, and nothing that is none'),
  },
  {
    id: 'whole-stream-free-by-a-frame-behind-it',
    clause: 'CC-11',
    edits: [chunkReader('watch.lacksNothing() || (fault instanceof NoChunk && watch.isComplete())', 'false')],
    killer: ended('CC-11 a stream that lacks nothing is charged in spite of an object of statistics'),
  },
  {
    id: 'word-that-is-no-reason-ends-a-stream',
    clause: 'CC-11',
    edits: [
      endWatch('          guesses.goOn(index);\n        }\n', '        }\n'),
      endWatch('guess !== undefined && (guess.isAlone || !isLost)', 'guess !== undefined'),
    ],
    killer: ended('CC-11 a word that is no reason ends nothing while chunks go on'),
  },
  {
    id: 'prompt-of-claude-free-by-a-later-zero',
    clause: 'MO-08',
    edits: [claudeUsage('promptOf(joined) < promptOf(earlier)', 'promptOf(joined) < 0')],
    killer: claude('MO-08 a stream of Claude is charged by the larger report of its prompt'),
  },
  {
    id: 'prompt-of-gemini-free-by-a-later-zero',
    clause: 'MO-08',
    edits: [geminiFit('Math.max(count, countIn(later, name))', 'countIn(later, name)')],
    killer: claude('MO-08 a stream of Gemini is charged by the larger report of each count'),
  },
  {
    id: 'unknown-event-of-claude-fails-its-stream',
    clause: 'MO-09',
    edits: [claudeFit('!EVENTS.has(type) :', "type === 'ping' :")],
    killer: claude('MO-09 events, blocks and deltas of unknown types are passed over'),
  },
  {
    id: 'picture-in-a-text-counted-as-text',
    clause: 'CC-23',
    edits: [generated("typeof text === 'string' ? drawn.take(text) : text", 'text')],
    killer: charged('WA-07 CC-23 an image of 400 KB in a text is charged by its usage and delivered whole'),
  },
  {
    id: 'early-output-of-claude-taken-for-all',
    clause: 'CC-23',
    edits: [claudeUsage("if (!isCounted) untold.push('completion', 'reasoning');", '')],
    killer: claude('CC-23 output that was counted only before its text is our own count'),
  },
  {
    id: 'early-output-of-gemini-taken-for-all',
    clause: 'CC-23',
    edits: [geminiFit('return isTold ? event', 'return isTold || true ? event')],
    killer: claude('CC-23 output that was counted only before its text is our own count'),
  },
  {
    id: 'error-behind-a-whole-answer-of-claude-makes-it-free',
    clause: 'CC-11',
    edits: [claudeFit('return hasReason && usage.isCounted() ? [] : [event];', 'return [event];')],
    killer: claude('CC-11 an error behind a whole answer of Claude or Gemini takes nothing back'),
  },
  {
    id: 'unbilled-refusal-charged-its-fees',
    clause: 'CC-23',
    edits: [usage('report?.isUnbilled === true ? ZERO_MICROS : chargeOf(price, usage)', 'chargeOf(price, usage)')],
    killer: claude('CC-23 a refusal of Claude before any output costs nothing'),
  },
  {
    id: 'cached-tokens-of-mistral-charged-in-full',
    clause: 'MO-08',
    edits: [usageDialects("    ['num_cached_tokens'], // Mistral, the same in the next place\n", '')],
    killer: speaking('MO-08 usage in the words of Mistral is charged as reported and shown in our format'),
  },
  {
    id: 'one-choice-of-two-charged',
    clause: 'MO-08',
    edits: [choiceUsages('    own.set(index, usage);\n', '    own.clear();\n    own.set(index, usage);\n')],
    killer: adding('MO-08 usages of different choices add up, and their prompt counts once'),
  },
  {
    id: 'probe-believes-the-usage-of-one-choice',
    clause: 'MO-13',
    edits: [probe("isEveryChoiceCounted: choices.every(({ is }) => is !== 'no')", 'isEveryChoiceCounted: true')],
    killer: probing('MO-13 a server that counts one of two choices gets no `n`'),
  },
  {
    id: 'cached-beside-the-prompt-lost-with-thoughts',
    clause: 'MO-08',
    edits: [usageReport(' || fromCache > promptGiven;', ';')],
    killer: counting('MO-08 the total decides where more cached than prompt tokens lie'),
  },
];
