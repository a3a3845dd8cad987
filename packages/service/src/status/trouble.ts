/** How an upstream serves, in one process: the part of its report that matters here. */
interface Served {
  /** The models that it serves, by their resolved identifiers. */
  readonly models: readonly string[];
  readonly state: 'closed' | 'open' | 'testing';
  readonly testInMs: number | undefined;
  readonly lastMinute: { readonly calls: number; readonly firstByteMs: number | undefined };
}

/** What is wrong with models, as far as one process knows. */
export interface Trouble {
  /** Calls fail at every upstream of these models. */
  readonly out: readonly string[];
  /** How long streams took to begin in the last minute, on average, by model. */
  readonly firstByteMs: ReadonlyMap<string, number>;
}

/** Fewer calls than this say nothing about how fast a model is. */
const CALLS_MIN = 5;

/**
 * A model is out if the breakers of all of its upstreams are open. An open breaker that nobody has tried for a while says nothing
 * any more: the upstream may be well again, and the next call will tell.
 */
export function troubleOf(upstreams: readonly Served[]): Trouble {
  const serving = new Map<string, Served[]>();
  for (const upstream of upstreams) {
    for (const model of upstream.models) serving.set(model, [...(serving.get(model) ?? []), upstream]);
  }
  const out: string[] = [];
  const firstByteMs = new Map<string, number>();
  for (const [model, some] of serving) {
    if (some.every(fails)) out.push(model);
    const ms = firstByteOf(some);
    if (ms !== undefined) firstByteMs.set(model, ms);
  }
  return { out, firstByteMs };
}

function fails({ state, testInMs = 0, lastMinute }: Served): boolean {
  return state !== 'closed' && (testInMs > 0 || lastMinute.calls > 0);
}

/** Returns the mean time weighted by calls. It is undefined if there were too few calls. */
function firstByteOf(upstreams: readonly Served[]): number | undefined {
  let calls = 0;
  let sum = 0;
  for (const { lastMinute } of upstreams) {
    if (lastMinute.firstByteMs === undefined) continue;
    calls += lastMinute.calls;
    sum += lastMinute.calls * lastMinute.firstByteMs;
  }
  return calls < CALLS_MIN ? undefined : sum / calls;
}
