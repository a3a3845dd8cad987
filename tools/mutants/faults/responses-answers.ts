import type { Mutant } from '../mutant.ts';
import { inFile, ofFile } from './places.ts';

const response = inFile('packages/service/src/gateway/wires/responses/reply/response.ts');
const written = inFile('packages/service/src/gateway/wires/responses/reply/stream.ts');
const plain = inFile('packages/service/src/gateway/wires/responses/reply/plain.ts');
const events = inFile('packages/service/src/providers/openai-responses/response-chunks.ts');
const relayed = inFile('packages/service/src/gateway/wires/responses/reply/native.ts');

const native = ofFile('tests/conformance/responses-native.test.ts');
const served = ofFile('tests/conformance/responses-in.test.ts');
const made = ofFile('tests/conformance/responses-answers.test.ts');

const TOLD = made('WI-06 the usage told is the usage taken, not the vendor’s own');
const RELAYED = served('WI-02 WI-06 a vendor’s own events come back as they come, under our head');

/** Faults in what callers of Responses learn about their usage and charge, and about failures. */
export const RESPONSES_ANSWER_FAULTS: readonly Mutant[] = [
  {
    id: 'event-as-it-came-with-what-nobody-may-see',
    clause: 'CC-21',
    edits: [events('visible === event ? source : undefined', 'source')],
    killer: native('WI-02 events of a native stream arrive as they came, if nothing of them is hidden'),
  },
  {
    id: 'usage-of-a-vendor-told-in-the-place-of-ours',
    clause: 'WI-06',
    edits: [
      plain(
        '...vendorFields(native), output, ...told };',
        "...vendorFields(native), output, usage: native['usage'] };",
      ),
    ],
    killer: TOLD,
  },
  {
    id: 'cached-tokens-not-told-on-responses',
    clause: 'WI-06',
    edits: [response("input['cached_tokens'] ?? 0", '0')],
    killer: TOLD,
  },
  {
    id: 'reasoning-tokens-not-told-on-responses',
    clause: 'WI-06',
    edits: [response("output['reasoning_tokens'] ?? 0", '0')],
    killer: TOLD,
  },
  {
    id: 'last-event-of-a-vendor-before-the-charge',
    clause: 'CC-08',
    edits: [
      relayed(
        "        if (isJsonObject(response)) last = response;\n        return '';\n",
        '        if (isJsonObject(response)) last = response;\n        return events.relay(event);\n',
      ),
    ],
    killer: served('CC-08 the last event of a stream leaves after its settlement, over Responses'),
  },
  {
    id: 'charge-missing-in-the-last-event',
    clause: 'WI-06',
    edits: [written('${last},"charge_micros":${micros}', '${last}')],
    killer: RELAYED,
  },
  {
    id: 'charge-of-responses-told-as-nothing',
    clause: 'WI-06',
    edits: [written('const micros = microsToWire(charged);', 'const micros = 0 * microsToWire(charged);')],
    killer: RELAYED,
  },
  {
    id: 'cut-response-told-as-whole',
    clause: 'WI-06',
    edits: [written('        ending = CUT;\n', '')],
    killer: served('WI-06 a stream past its limit is cut as incomplete and pays its hold, over Responses'),
  },
  {
    id: 'failure-told-so-that-agents-repeat-what-cannot-help',
    clause: 'WI-07',
    edits: [response("LASTING.has(type) ? 'invalid_prompt' : ", '')],
    killer: made('WI-07 a failure after output says our words and codes, and whether a repeat may help'),
  },
];
