import type { Mutant } from '../mutant.ts';
import {
  abandoning,
  answerSize,
  catalogue,
  catalogueFile,
  estimating,
  holdRequest,
  counting,
  failure,
  lowering,
  overrunning,
  plainCall,
  price,
  pricing,
  promptBound,
  settledFirst,
  stream,
  streamTally,
  tokenCounter,
  usage,
  usageReport,
  validation,
  walking,
} from './places.ts';

const BY_HAND = 'MO-06 charges equal those worked out by hand';
const CEILING = 'WA-07 a ceiling is the dearest prompt plus all output';
const LEFT_IN_THE_MIDDLE = 'CC-11 a streamed call: the caller leaves in the middle, and the stream is cancelled';
const BROKEN_OFF = 'CC-11 ER-06 a streamed call: the provider begins and then resets';

/** Faults in what a call costs and in how the gateway ends it. */
export const CALL_FAULTS: readonly Mutant[] = [
  {
    id: 'charge-rounded-down',
    clause: 'MO-06',
    edits: [price('(scaled + SCALE - 1n) / SCALE', 'scaled / SCALE')],
    killer: pricing(BY_HAND),
  },
  {
    id: 'margin-forgotten',
    clause: 'MO-06',
    edits: [price('tokenMicros * (BASIS_POINTS + price.marginBasisPoints)', 'tokenMicros * BASIS_POINTS')],
    killer: pricing(BY_HAND),
  },
  {
    id: 'cached-tokens-charged-twice',
    clause: 'MO-06',
    edits: [price('promptTokens - cachedTokens - cacheWriteTokens;', 'promptTokens - cacheWriteTokens;')],
    killer: pricing(BY_HAND),
  },
  {
    id: 'cache-writes-at-the-price-of-input',
    clause: 'MO-08',
    edits: [
      price(
        'BigInt(cacheWriteTokens) * price.cacheWriteMicrosPerMillion',
        'BigInt(cacheWriteTokens) * price.inputMicrosPerMillion',
      ),
    ],
    killer: pricing(BY_HAND),
  },
  {
    id: 'cache-writes-not-read',
    clause: 'MO-08',
    edits: [usageReport('Math.min(cacheWrite, promptTokens - cachedTokens)', '0')],
    killer: counting('MO-08 cache writes are read from every reported place'),
  },
  {
    id: 'reasoning-tokens-charged-twice',
    clause: 'MO-06',
    edits: [price('BigInt(usage.completionTokens)', 'BigInt(usage.completionTokens + usage.reasoningTokens)')],
    killer: pricing(BY_HAND),
  },
  {
    id: 'ceiling-without-margin',
    clause: 'WA-07',
    edits: [
      price('return roundedUp(price, prompt +', 'return roundedUp({ ...price, marginBasisPoints: 0n }, prompt +'),
    ],
    killer: pricing(CEILING),
  },
  {
    id: 'ceiling-without-cache-writes',
    clause: 'WA-07',
    edits: [
      price('return dearer > cacheWriteMicrosPerMillion ? dearer : cacheWriteMicrosPerMillion;', 'return dearer;'),
    ],
    killer: pricing(CEILING),
  },
  {
    id: 'one-token-more-than-afforded',
    clause: 'WA-07',
    edits: [price('? Number(tokens) :', '? Number(tokens) + 1 :')],
    killer: pricing('WA-07 affordable output never costs more, one more token would'),
  },
  {
    id: 'hold-for-one-choice',
    clause: 'WA-07',
    edits: [
      holdRequest(
        'return ceilingOf(price, tokensMax, outputTokens * choices);',
        'return ceilingOf(price, tokensMax, outputTokens);',
      ),
    ],
    killer: lowering('WA-07 several choices share the affordable output'),
  },
  {
    id: 'each-choice-gets-all-the-output',
    clause: 'WA-07',
    edits: [holdRequest('granted) / choices);', 'granted));')],
    killer: lowering('WA-07 several choices share the affordable output'),
  },
  {
    id: 'floor-above-the-limit-of-the-caller',
    clause: 'WA-07',
    edits: [
      validation(
        'Math.min(Math.max(model.minOutputTokens, thoughtTokens + 1), outputTokensMax)',
        'model.minOutputTokens',
      ),
    ],
    killer: lowering("WA-07 a caller's own max_tokens below the floor becomes the floor"),
  },
  {
    id: 'numbers-of-a-prompt-held-as-one-token',
    clause: 'WA-07',
    edits: [holdRequest('sentBytes - dataUrlBytes + imageTokens', 'textBytes + imageTokens')],
    killer: promptBound('WA-07 the hold covers every byte sent to the provider'),
  },
  {
    id: 'zero-usage-taken-for-none',
    clause: 'CC-23',
    edits: [usageReport('const promptGiven = prompt ??', 'const promptGiven = (prompt || undefined) ??')],
    killer: counting('CC-23 a consistent usage report is taken unchanged'),
  },
  {
    id: 'last-report-taken-for-the-largest',
    clause: 'CC-23',
    edits: [usageReport('Math.max(left, right)', 'right')],
    killer: counting('CC-23 usage that falls between chunks is a contradiction'),
  },
  {
    id: 'reasoning-beside-the-completion-free',
    clause: 'CC-23',
    edits: [usageReport('visibleTokens + beside.reasoning + hidden', 'visibleTokens + hidden')],
    killer: counting('CC-23 reasoning outside the completion is billed with it'),
  },
  {
    id: 'more-cached-than-prompt-tokens',
    clause: 'CC-23',
    edits: [usageReport('Math.min(cached, promptTokens)', 'cached')],
    killer: counting('CC-23 any report gives disjoint whole counts adding up'),
  },
  {
    id: 'estimate-not-marked',
    clause: 'CC-11',
    edits: [
      usageReport(
        'return { usage: countOwn(), isEstimated: true, isClamped: false }',
        'return { usage: countOwn(), isEstimated: false, isClamped: false }',
      ),
    ],
    killer: walking('CC-11 a streamed call: the provider leaves out the usage'),
  },
  {
    id: 'output-past-the-limit-at-its-reported-price',
    clause: 'WA-07',
    edits: [usage('return used < most ? most : used;', 'return used;')],
    killer: overrunning('WA-07 a plain answer past its limit is delivered'),
  },
  {
    id: 'upper-bound-charged',
    clause: 'CC-11',
    edits: [usage('call.prompt.tokensEstimated', 'call.prompt.tokensMax')],
    killer: walking('CC-11 a streamed call: the caller leaves before any content, and the stream is cancelled'),
  },
  {
    id: 'failed-plain-call-keeps-its-hold',
    clause: 'CC-09',
    edits: [failure('await lane.settle(', '!hold.call.isStream ? { charged: ending.charge } : await lane.settle(')],
    killer: walking('CC-09 a plain call: the provider answers 500'),
  },
  {
    id: 'plain-answer-before-its-settlement',
    clause: 'CC-08',
    edits: [
      plainCall(
        "\n    const { charged } = await lane.settle(hold, ending, 'always'); //",
        "\n    const { charge: charged } = ending;\n    void lane.settle(hold, ending, 'always'); //",
      ),
    ],
    killer: settledFirst('CC-08 a buffered answer is sent only after its settlement'),
  },
  {
    id: 'stream-that-fails-early-keeps-its-hold',
    clause: 'CC-09',
    edits: [
      stream(
        'return endFailed(lane, { hold, ending: endingAfter(fault, upstream, tally, caller.log), caller }, fault);',
        'return refusalOfUpstream(fault as UpstreamError);',
      ),
    ],
    killer: walking('CC-09 a streamed call: the provider answers 500'),
  },
  {
    id: 'stream-that-fails-late-keeps-its-hold',
    clause: 'CC-11',
    edits: [stream('await endFailed(lane, failed, fault).catch(', 'await Promise.reject<never>(fault).catch(')],
    killer: walking(BROKEN_OFF),
  },
  {
    id: 'unsent-stream-keeps-its-hold',
    clause: 'CC-08',
    edits: [stream("await lane.settle(hold, FAILED, 'always');", '')],
    killer: abandoning('CC-08 a stream abandoned while its hold is placed reaches no provider'),
  },
  {
    id: 'failed-stream-charged',
    clause: 'CC-11',
    edits: [stream('return upstream.signal.aborted && !isProvidersFault ?', 'return true ?')],
    killer: walking(BROKEN_OFF),
  },
  {
    id: 'abandoned-stream-free',
    clause: 'CC-11',
    edits: [stream('return upstream.signal.aborted && !isProvidersFault ?', 'return false ?')],
    killer: walking(LEFT_IN_THE_MIDDLE),
  },
  {
    id: 'stream-done-before-its-settlement',
    clause: 'CC-08',
    edits: [
      stream(
        '    await out.end(stream.held + tally.cutFrames() + hold.call.reply.endFrames(tally.end(), charged));\n',
        '',
      ),
      stream(
        '    const ending = tally.endingAs(outcome);\n',
        '    const ending = tally.endingAs(outcome);\n    await out.end(stream.held + tally.cutFrames() + hold.call.reply.endFrames(tally.end(), ending.charge));\n',
      ),
    ],
    killer: settledFirst('CC-08 a stream that reaches its end tells its caller only after settlement'),
  },
  {
    id: 'answer-too-large-asked-for',
    clause: 'CC-24',
    edits: [validation(': Math.min(outputTokens, outputTokensDeliverable(request, choices))', ': outputTokens')],
    killer: answerSize('CC-24 a plain call’s limit rules out oversized answers'),
  },
  {
    id: 'stream-with-too-large-a-chunk-free',
    clause: 'CC-24',
    edits: [
      stream(
        "if ((kind !== 'too-large' && !isHeldUp) || !tally.cutShort()) throw fault;",
        'if (!isHeldUp || !tally.cutShort()) throw fault;',
      ),
    ],
    killer: answerSize('CC-24 a stream ends before an oversized chunk'),
  },
  {
    id: 'own-count-without-runs',
    clause: 'CC-23',
    edits: [tokenCounter('added += run[script] as number;', '')],
    killer: estimating('CC-23 our count is close to a real tokenizer: o200k'),
  },
  {
    id: 'hidden-reasoning-cancelled',
    clause: 'CC-11',
    edits: [catalogue("model.parameters?.includes('reasoning_effort') ?? false", 'false')],
    killer: catalogueFile(
      'MO-06 a file that leaves a model that takes `reasoning_effort` to a provider that cancels is refused with the fault’s place',
    ),
  },
  {
    id: 'stream-without-an-end-charged',
    clause: 'CC-11',
    edits: [stream('else if (!tally.isFinished())', 'else if (tally === undefined)')],
    killer: walking('CC-11 ER-06 a streamed call: the provider begins and then ends without a finish reason'),
  },
  {
    id: 'one-choice-of-two-is-enough',
    clause: 'CC-11',
    edits: [streamTally('begun.size > 0 && begun.size === finished.size', 'finished.size > 0')],
    killer: walking('CC-11 ER-06 a streamed call: the provider begins and then finishes one of two choices'),
  },
];
