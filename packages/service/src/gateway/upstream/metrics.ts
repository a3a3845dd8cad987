import type { UpstreamState } from '#gateway/upstream/upstream-state.ts';
import { catalogueReading } from '#kernel/metrics/catalogue-metrics.ts';

const LABELS = ['provider', 'model'];

/** Declares what this process knows of its upstreams. `isOpen`: calls avoid one at present. */
export function declareUpstreamMetrics(
  all: () => readonly UpstreamState[],
  isOpen: (state: UpstreamState) => boolean,
): void {
  catalogueReading({
    name: 'purser_upstream_calls_total',
    help: 'Requests to upstreams, by how they ended. overflowed: turned away here, by the limits of the provider.',
    kind: 'counter',
    across: 'sum',
    labels: [...LABELS, 'outcome'],
    read: () =>
      all().flatMap(({ providerName, providerModel, totals }) => {
        const { answered, throttled, failed, others, overflows } = totals;
        const by = { answered, throttled, failed, other: others, overflowed: overflows };
        return Object.entries(by).map(([outcome, count]) => [[providerName, providerModel, outcome], count] as const);
      }),
  });
  const ofEach = (read: (state: UpstreamState) => number) => () =>
    all().map((state) => [[state.providerName, state.providerModel], read(state)] as const);
  catalogueReading({
    name: 'purser_upstream_first_bytes_total',
    help: 'Streams that began.',
    kind: 'counter',
    across: 'sum',
    labels: LABELS,
    read: ofEach(({ totals }) => totals.firstBytes),
  });
  catalogueReading({
    name: 'purser_upstream_first_byte_ms_total',
    help: 'How long streams took to begin, all together, in milliseconds.',
    kind: 'counter',
    across: 'sum',
    labels: LABELS,
    read: ofEach(({ totals }) => Math.round(totals.firstByteMs)),
  });
  catalogueReading({
    name: 'purser_upstream_open',
    help: '1 if calls go to other upstreams first, because too many failed here. 0 when the next call may test it.',
    kind: 'gauge',
    across: 'max',
    labels: LABELS,
    read: ofEach((state) => (isOpen(state) ? 1 : 0)),
  });
  const gates = () => new Map(all().flatMap(({ providerName, gate }) => (gate ? [[providerName, gate] as const] : [])));
  catalogueReading({
    name: 'purser_upstream_waiting',
    help: 'Calls that wait for their turn at a provider with limits.',
    kind: 'gauge',
    across: 'sum',
    labels: ['provider'],
    read: () => Array.from(gates(), ([name, gate]) => [[name], gate.waiting()] as const),
  });
}
