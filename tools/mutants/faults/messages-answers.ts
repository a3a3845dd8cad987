import type { Mutant } from '../mutant.ts';
import { inFile, ofFile } from './places.ts';

const message = inFile('packages/service/src/gateway/wires/messages/reply/message.ts');
const written = inFile('packages/service/src/gateway/wires/messages/reply/stream.ts');
const queue = inFile('packages/service/src/gateway/wires/messages/blocks/queue.ts');

const streamed = ofFile('tests/conformance/messages-events.test.ts');
const made = ofFile('tests/conformance/messages-answers.test.ts');

const TEXT = streamed('WI-09 a text is told by the events of the vendor’s own types');
const HOUR = made('WI-09 tokens that were written to a cache for an hour are told apart');

/** Faults in what callers of Messages learn about their usage and charge, and in what they get of an answer. */
export const MESSAGES_ANSWER_FAULTS: readonly Mutant[] = [
  {
    id: 'cached-tokens-told-twice-on-messages',
    clause: 'WI-09',
    edits: [message('countOf(prompt) - countOf(cached) - written', 'countOf(prompt) - written')],
    killer: TEXT,
  },
  {
    id: 'hours-of-the-cache-told-as-uncached',
    clause: 'WI-09',
    edits: [message('countOf(short) + cacheWriteLong', 'countOf(short)')],
    killer: HOUR,
  },
  {
    id: 'charge-missing-beside-the-usage-of-a-message',
    clause: 'WI-09',
    edits: [written('${last},"charge_micros":${micros}', '${last}')],
    killer: TEXT,
  },
  {
    id: 'cut-message-told-as-whole',
    clause: 'WI-09',
    edits: [written("      reason = 'length';\n", '')],
    killer: streamed('WI-09 a stream that is cut ends as at its limit'),
  },
  {
    id: 'pieces-of-a-call-lost-when-another-begins',
    clause: 'WI-09',
    edits: [queue("if (kind !== 'tool_use') return true;", 'if (kind.length > 0) return true;')],
    killer: streamed('WI-09 the events of a stream make a whole Message: pieces of calls in turn'),
  },
];
