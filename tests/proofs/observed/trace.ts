import type { ReceivedSpan } from '../../support/otlp-receiver.ts';

const CLIENT = 3;
const NANOS_PER_MS = 1_000_000;

/** The latest trace in which a provider failed, as a tree: name, time, and what a person would look at first. Undefined if there is none. */
export function failedTrace(spans: readonly ReceivedSpan[]): string | undefined {
  const failed = spans.findLast(({ hasFailed, kind }) => hasFailed && kind === CLIENT);
  if (failed === undefined) return undefined;
  const trace = spans.filter(({ traceId }) => traceId === failed.traceId);
  const ids = new Set(trace.map(({ spanId }) => spanId));
  const isRoot = ({ parentSpanId }: ReceivedSpan): boolean => parentSpanId === undefined || !ids.has(parentSpanId);
  const lines = (spansHere: readonly ReceivedSpan[], depth: number): string[] =>
    spansHere
      .toSorted((left, right) => Number(left.startNanos - right.startNanos))
      .flatMap((span) => [
        `${'  '.repeat(depth)}${describe(span)}`,
        ...lines(
          trace.filter(({ parentSpanId }) => parentSpanId === span.spanId),
          depth + 1,
        ),
      ]);
  return lines(trace.filter(isRoot), 1).join('\n');
}

function describe({ name, startNanos, endNanos, hasFailed, attributes }: ReceivedSpan): string {
  const shown = Object.entries(attributes).filter(([key]) => /error|status|provider|model|charge|outcome/.test(key));
  const took = (Number(endNanos - startNanos) / NANOS_PER_MS).toFixed(1);
  return `${name}, ${took} ms${hasFailed ? ', FAILED' : ''}  ${shown.map(([key, value]) => `${key}=${value}`).join(' ')}`;
}
