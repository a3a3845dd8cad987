import type { Mutant } from '../mutant.ts';
import { inFile, ofFile, stream } from './places.ts';

const reading = inFile('packages/service/src/gateway/wires/responses/request/read.ts');
const request = inFile('packages/service/src/providers/openai-responses/to-request.ts');
const usage = inFile('packages/service/src/providers/openai-responses/usage.ts');
const compatibleUsage = inFile('packages/service/src/providers/answers/usage.ts');
const answer = inFile('packages/service/src/providers/openai-responses/answer.ts');
const chunks = inFile('packages/service/src/providers/openai-responses/response-chunks.ts');
const progress = inFile('packages/service/src/providers/openai-responses/progress.ts');

const onAllWires = ofFile('tests/conformance/wires.test.ts');
const translated = ofFile('tests/conformance/responses-out.test.ts');
const native = ofFile('tests/conformance/responses-native.test.ts');
const ownForm = inFile('packages/service/src/gateway/wires/responses/request/native.ts');
const inForm = ofFile('packages/service/src/gateway/wires/responses/request/native.test.ts');
const ended = ofFile('tests/conformance/responses-endings.test.ts');

const ANSWERED = translated('WI-03 a response is answered as a completion, and its usage charged');
const STREAMED = translated('WI-03 a stream of events is told as chunks as they come');

/** Faults in what upstreams of Responses are asked, and in what their answers are charged. */
export const RESPONSES_FAULTS: readonly Mutant[] = [
  {
    id: 'responses-without-their-limit',
    clause: 'WA-07',
    edits: [request('      max_output_tokens: call.outputTokens,\n', '')],
    killer: ANSWERED,
  },
  {
    id: 'responses-limit-of-the-caller-not-read',
    clause: 'WI-01',
    edits: [reading("  add('max_completion_tokens', body['max_output_tokens']);\n", '')],
    killer: onAllWires('WI-01 the same prompt has one hold, request and charge on all wires, plain'),
  },
  {
    id: 'repeat-with-shuffled-names-charged-again',
    clause: 'CC-14',
    edits: [reading('    joinsBy: () => joiningText(body),\n', '')],
    killer: onAllWires('CC-14 a key that joins finds a repeat whose names are shuffled'),
  },
  {
    id: 'sign-of-life-overtakes-what-waits-for-the-settlement',
    clause: 'WI-06',
    edits: [stream('    await pump(stream);\n    out.stop();', '    await pump(stream);\n')],
    killer: ofFile('tests/conformance/stream-pace.test.ts')(
      'WI-06 a settlement that takes long puts no event out of order',
    ),
  },
  {
    id: 'responses-stored-at-the-vendor',
    clause: 'WI-03',
    edits: [request('store: false', 'store: true')],
    killer: ANSWERED,
  },
  {
    id: 'usage-of-responses-not-read',
    clause: 'WI-03',
    edits: [usage('report === undefined ||', 'report !== undefined ||')],
    killer: ANSWERED,
  },
  {
    id: 'cached-tokens-of-responses-at-the-full-price',
    clause: 'WI-03',
    edits: [compatibleUsage("  ['prompt_tokens_details', 'input_tokens_details'],\n", '')],
    killer: ANSWERED,
  },
  {
    id: 'usage-of-the-last-event-dropped',
    clause: 'WI-03',
    edits: [
      chunks('usage: usageOfResponse(response, searches.with(outputOf(response)))', 'usage: usageOfResponse({}, 0)'),
    ],
    killer: STREAMED,
  },
  {
    id: 'searches-of-responses-free',
    clause: 'MO-08',
    edits: [answer('usageOfResponse(answer, searchesIn(output))', 'usageOfResponse(answer)')],
    killer: native('MO-08 a native call pays its searches, of which it may make no more than held'),
  },
  {
    id: 'searches-of-a-stream-free-where-its-end-is-empty',
    clause: 'MO-08',
    edits: [chunks('Math.max(ended, searchesIn(output))', 'searchesIn(output)')],
    killer: native('MO-08 searches of a native stream are paid where its last event does not repeat them'),
  },
  {
    id: 'tool-for-a-fee-hidden-in-a-namespace',
    clause: 'WI-04',
    edits: [ownForm('{ ...holder, tools: offeredTools(tools, supports) }', 'holder')],
    killer: inForm('WI-04 no tool of a vendor hides in a namespace or in an item'),
  },
  {
    id: 'stream-of-too-many-items-free',
    clause: 'CC-24',
    edits: [progress("'too-large', 'The provider sent more items", "'malformed', 'The provider sent more items")],
    killer: native('CC-24 a stream of more items than are taken is cut there, and paid'),
  },
  {
    id: 'more-searches-than-held',
    clause: 'WA-07',
    edits: [
      ownForm(
        "Math.min(Number(native['max_tool_calls'] ?? searchesMax), searchesMax)",
        "Number(native['max_tool_calls'] ?? 1_000)",
      ),
    ],
    killer: native('MO-08 a native call pays its searches, of which it may make no more than held'),
  },
  {
    id: 'failed-response-charged',
    clause: 'CC-09',
    edits: [
      answer("if (status === 'failed' ||", "if (status === 'nothing' ||"),
      answer('(isJsonObject(error) &&', '(false &&'),
    ],
    killer: ended('ER-06 a stream of Responses that fails is free'),
  },
  {
    id: 'stream-behind-its-reasoning-taken-for-whole',
    clause: 'ER-06',
    edits: [progress('items.length > 0 && isLastSaying &&', 'items.length > 0 &&')],
    killer: ended('ER-06 a stream of Responses that ends behind its reasoning is free'),
  },
];
