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

const PROVIDER_IS_TOLD =
  'CC-19 CC-13 a provider receives the trace only if its catalogue entry says so, and a caller receives nothing of it';
const TOLD_APART =
  'CC-19 refused, failed and sandbox calls are told apart, and a caller without a valid key gets no trace';
const ONE_TRACE =
  'CC-19 CC-16 a call that goes on to a second provider is one trace with a span for each step and each try';

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
    clause: 'CC-19',
    edits: [traceContext("if (version === undefined || version === 'ff' ||", 'if (version === undefined ||')],
    killer: readingParents('CC-19 a valid `traceparent` is read, and an invalid one counts as none'),
  },
  {
    id: 'unwanted-trace-exported',
    clause: 'CC-19',
    edits: [callExport(' && span?.parentId === undefined', '')],
    killer: exporting(TOLD_APART),
  },
  {
    id: 'refusal-counted-as-failure',
    clause: 'CC-19',
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
    clause: 'CC-19',
    edits: [spanQueue('if (waiting.length + spans.length > WAITING_MAX)', 'if (waiting.length < 0)')],
    killer: queueing('CC-19 while too many spans wait, those of later calls are dropped whole and counted'),
  },
  {
    id: 'spans-dropped-by-an-outage',
    clause: 'CC-19',
    edits: [spanQueue("if (sent.result === 'again') {", "if (sent.result === 'again' && waiting.length < 0) {")],
    killer: queueing(
      'CC-19 spans of a collector that is away are sent when it is back, and the operator is told once of both',
    ),
  },
];
