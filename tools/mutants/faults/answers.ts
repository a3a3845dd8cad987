import type { Mutant } from '../mutant.ts';
import {
  adapter,
  bounding,
  chunkReader,
  chunkStream,
  counting,
  endWatch,
  holdingUp,
  holdRequest,
  stream,
  parameters,
  tabulating,
  validation,
  vendorParameters,
  usage,
  speaking,
  charging,
  usageDialects,
  usageReport,
  walking,
} from './places.ts';

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
  {
    id: 'thoughts-in-the-total-free',
    clause: 'MO-08',
    edits: [usageReport('Math.min(beside.unexplained, room)', '0')],
    killer: counting('CC-23 tokens only in the total are billed as reasoning'),
  },
  {
    id: 'thoughts-in-the-total-without-a-bound',
    clause: 'WA-07',
    edits: [usageReport('Math.min(beside.unexplained, room)', 'beside.unexplained')],
    killer: counting('CC-23 tokens only in the total are billed as reasoning'),
  },
  {
    id: 'first-place-of-a-count-taken-for-the-largest',
    clause: 'MO-08',
    edits: [usageDialects('Math.max(counts[place.count] ?? 0, count)', 'counts[place.count] ?? count')],
    killer: speaking(
      'MO-08 usage in the words of DeepSeek behind a server that fills in zeros is charged as reported and shown in our format',
    ),
  },
  {
    id: 'usage-in-a-choice-not-read',
    clause: 'MO-08',
    edits: [usageDialects('usageOfChoices(choices) ??', 'undefined ??')],
    killer: charging('MO-08 CC-12 usage of Moonshot, which reports in the last choice, is charged and shown'),
  },
  {
    id: 'parts-charged-and-not-shown',
    clause: 'CC-12',
    edits: [usageReport('taken > 0 || reported !== undefined || isTold', 'isTold')],
    killer: speaking('MO-08 usage in the words of Kimi is charged as reported and shown in our format'),
  },
  {
    id: 'prompt-held-by-its-characters',
    clause: 'WA-07',
    edits: [
      holdRequest('const innerBytes = Buffer.byteLength(requestText);', 'const innerBytes = requestText.length;'),
    ],
    killer: bounding('WA-07 no call costs more than its hold at any prices'),
  },
  {
    id: 'syntax-of-the-prompt-estimated',
    clause: 'CC-23',
    edits: [holdRequest('characters + innerBytes - requestText.length - dataUrlBytes', 'innerBytes - dataUrlBytes')],
    killer: charging('CC-23 our prompt count ignores JSON spelling'),
  },
  {
    id: 'estimate-above-the-limit-that-was-sent',
    clause: 'WA-07',
    edits: [usage('Math.min(textTokens + imageOutputTokens, tokensMax)', 'textTokens + imageOutputTokens')],
    killer: charging('WA-07 CC-23 our own answer count never exceeds the limit sent'),
  },
  {
    id: 'vendor-parameter-for-every-model',
    clause: 'CC-03',
    edits: [parameters('new Set([...NAMED_PARAMETERS].filter(isAccepted))', 'NAMED_PARAMETERS')],
    killer: tabulating('CC-03 a vendor parameter is refused unless listed'),
  },
  {
    id: 'thoughts-above-the-limit',
    clause: 'WA-07',
    edits: [vendorParameters('if (budget < outputTokens)', 'if (budget < Infinity)')],
    killer: tabulating('CC-03 WA-07 a thinking budget may not exceed the output limit'),
  },
  {
    id: 'hold-that-covers-no-thoughts',
    clause: 'WA-07',
    edits: [validation('Math.max(model.minOutputTokens, thoughtTokens + 1)', 'model.minOutputTokens')],
    killer: tabulating('CC-03 WA-07 a thinking budget may not exceed the output limit'),
  },
  {
    id: 'template-of-the-caller',
    clause: 'CC-03',
    edits: [vendorParameters('TEMPLATE_NAME.test(name) && !TEMPLATE_OURS.includes(name)', 'TEMPLATE_NAME.test(name)')],
    killer: tabulating('CC-07 chat_template_kwargs with any other value is refused by its path'),
  },
  {
    id: 'empty-tools-sent',
    clause: 'CC-13',
    edits: [
      parameters(
        "if (!isEmpty('tools', request['tools']) && !isEmpty('stop', request['stop'])) return request;",
        'if (request !== undefined) return request;',
      ),
    ],
    killer: tabulating('CC-13 empty tool and stop lists reach no provider'),
  },
  {
    id: 'unpriced-cache-marks-sent',
    clause: 'MO-08',
    edits: [validation('withoutUnpricedMarks(request, context.upstreams)', 'withoutUnpricedMarks(request, [])')],
    killer: charging('MO-08 a cache mark is sent only if priced'),
  },
  {
    id: 'held-up-provider-free',
    clause: 'CC-11',
    edits: [stream("(kind !== 'too-large' && !isHeldUp)", "kind !== 'too-large'")],
    killer: holdingUp('CC-11 a provider lost behind a stalled caller is paid'),
  },
  {
    id: 'provider-that-breaks-off-paid',
    clause: 'CC-11',
    edits: [stream(' && out.heldUpMs() >= caller.pace.heldUpMsMax', '')],
    killer: holdingUp('CC-11 a provider lost behind a stalled caller is paid'),
  },
  {
    id: 'chunk-without-choices-ends-a-stream',
    clause: 'CC-11',
    edits: [chunkReader("event['object'] === CHUNK || ", '')],
    killer: walking('CC-11 a streamed call: the provider sends a chunk without choices'),
  },
];
