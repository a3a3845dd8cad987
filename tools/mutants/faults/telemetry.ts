import type { Mutant } from '../mutant.ts';
import {
  callExport,
  callSpans,
  exporting,
  queueing,
  readingParents,
  spanQueue,
  traceContext,
  tryRoute,
} from './places.ts';

const PROVIDER_IS_TOLD = 'OP-07 CC-13 a provider gets the trace only by its entry';
const TOLD_APART = 'OP-07 traces distinguish refused, failed and sandbox calls';
const ONE_TRACE = 'OP-07 CC-16 a call with a fallback is one trace';

/** Faults in what an operator collects of calls, and in who else gets to know of it. */
export const TELEMETRY_FAULTS: readonly Mutant[] = [
  {
    id: 'every-provider-gets-the-trace',
    clause: 'CC-13',
    edits: [tryRoute(" || !('traceContext' in provider) || provider.traceContext !== true", '')],
    killer: exporting(PROVIDER_IS_TOLD),
  },
  {
    id: 'invalid-parent-followed',
    clause: 'OP-07',
    edits: [traceContext("if (version === undefined || version === 'ff' ||", 'if (version === undefined ||')],
    killer: readingParents('OP-07 a valid `traceparent` is read, an invalid one ignored'),
  },
  {
    id: 'unwanted-trace-exported',
    clause: 'OP-07',
    edits: [callExport(' && span?.parentId === undefined', '')],
    killer: exporting(TOLD_APART),
  },
  {
    id: 'refusal-counted-as-failure',
    clause: 'OP-07',
    edits: [callSpans("outcome === 'failed' || (status ?? 0) >= SERVER_FAULT", "outcome !== 'answered'")],
    killer: exporting(TOLD_APART),
  },
  {
    id: 'failed-try-not-noted',
    clause: 'CC-16',
    edits: [tryRoute('(this.failedTries ??= []).push(', 'void [].concat(')],
    killer: exporting(ONE_TRACE),
  },
  {
    id: 'spans-wait-without-a-bound',
    clause: 'OP-07',
    edits: [spanQueue('if (waiting.length + spans.length > WAITING_MAX)', 'if (waiting.length < 0)')],
    killer: queueing('OP-07 excess spans are dropped by whole calls and counted'),
  },
  {
    id: 'spans-dropped-by-an-outage',
    clause: 'OP-07',
    edits: [spanQueue("if (sent.result === 'again') {", "if (sent.result === 'again' && waiting.length < 0) {")],
    killer: queueing('OP-07 spans wait out a collector outage'),
  },
];
