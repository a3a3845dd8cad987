import type { Mutant } from '../mutant.ts';
import { abandoning, digests, inFile, ofFile, validation } from './places.ts';

const reading = inFile('packages/service/src/gateway/wires/messages/request/read.ts');
const conversation = inFile('packages/service/src/gateway/wires/messages/conversation/conversation.ts');
const signatures = inFile('packages/service/src/gateway/wires/messages/conversation/thought-signatures.ts');
const tools = inFile('packages/service/src/gateway/wires/messages/conversation/tools.ts');

const read = ofFile('packages/service/src/gateway/wires/messages/request/parameters.test.ts');
const conversed = ofFile('packages/service/src/gateway/wires/messages/conversation/conversation.test.ts');
const onTheWire = ofFile('tests/conformance/messages-wire.test.ts');
const onAllWires = ofFile('tests/conformance/wires.test.ts');
const refused = ofFile('packages/service/src/gateway/wires/messages/refusals.test.ts');

/** Faults in how bodies of Messages are read, and in how their repeats are found. */
export const MESSAGES_FAULTS: readonly Mutant[] = [
  {
    id: 'repeat-joins-a-call-on-another-wire',
    clause: 'CC-14',
    edits: [digests("['joined', ...form]", "['joined']")],
    killer: onAllWires('CC-14 WI-01 the same bytes on another wire are another call'),
  },
  {
    id: 'key-opens-an-answer-on-another-wire',
    clause: 'CC-14',
    edits: [digests("['body', ...form]", "['body']")],
    killer: onAllWires('CC-14 WI-01 one `idempotency-key` on two wires is refused'),
  },
  {
    id: 'begun-stream-joined-by-no-repeat-without-a-key',
    clause: 'CC-14',
    edits: [validation('key === undefined && joinSeconds === null', 'key === undefined')],
    killer: abandoning('CC-14 by body, a repeat gets what a drained stream came to'),
  },
  {
    id: 'messages-limit-of-the-caller-not-read',
    clause: 'WI-08',
    edits: [reading("  add('max_completion_tokens', body['max_tokens']);\n", '')],
    killer: read('WI-08 parameters are read into those of chat completions'),
  },
  {
    id: 'messages-limit-above-the-model-lowered',
    clause: 'WI-10',
    edits: [validation('ownLimitOf(request) ?? outputTokens)', 'outputTokens)')],
    killer: onTheWire('WI-10 a limit above that of model or wallet is refused in the vendor’s words'),
  },
  {
    id: 'tools-that-cost-a-fee-taken-for-functions',
    clause: 'WI-08',
    edits: [tools("type !== 'custom' && type !== null", "type === ''")],
    killer: read('WI-08 a tool is a function, and a vendor’s own is refused by its type'),
  },
  {
    id: 'results-of-tools-behind-what-else-is-said',
    clause: 'WI-08',
    edits: [
      conversation(
        'for (const one of [...others.results, ...others.messages]) read.push(one);',
        'for (const one of [...others.messages, ...others.results]) read.push(one);',
      ),
    ],
    killer: conversed('WI-08 results follow the calls they answer, before what else is said'),
  },
  {
    id: 'made-up-signatures-unchecked',
    clause: 'WI-08',
    edits: [
      signatures(
        'const read = parseBody(Buffer.concat([HEAD, json, TAIL]));',
        'const read: unknown = { details: JSON.parse(json.toString()) };',
      ),
      signatures("read instanceof Refusal ? undefined : read['details']", "(read as JsonObject)['details']"),
    ],
    killer: refused('WI-08 a signature that somebody made up goes no further than a body does'),
  },
];
