import { estimatedPromptOf, sentBytesOf } from '../../support/prompt-size.ts';
import type { Outage } from './chaos.ts';
import type { Fleet } from './fleet.ts';
import { type Life, longestStopMs, wasCut } from './gateway-process.ts';
import type { CallFacts } from './history-log.ts';
import type { Keys } from './keys.ts';
import { type BurstPlan, type CallPlan, type HistoryPlan, planBurstCall, planCall, planCutCall } from './plan.ts';
import { bodyOf, type Seen, sendCall, writtenBy } from './prover-client.ts';
import type { Provider } from './provider.ts';
import { sleep } from './sleep.ts';

interface WorkloadOptions {
  readonly plan: HistoryPlan;
  readonly fleet: Fleet;
  readonly provider: Provider;
  readonly keys: Keys;
  readonly over: AbortSignal;
}

interface Sent {
  readonly call: CallPlan;
  readonly body: string;
  readonly life: Life;
  readonly seen: Seen & { readonly ending: CallFacts['ending'] };
}

const CLIENTS = 12;
const LONG_CALLS = 8;
const LONG_BEGIN_MS_MAX = 2_500;
const LOOK_MS = 50;
const BURST_PAUSE_MS = 400;
const NO_GATEWAY_PAUSE_MS = 100;
/** The aftermath of an outage: connections are reopened and statements repeated. */
const OUTAGE_ECHO_MS = 10_000;

/** Starts the clients of a history. Each sends one call after another until the history ends. */
export function runClients(options: WorkloadOptions) {
  const sent: Sent[] = [];
  const clients = Array.from({ length: CLIENTS }, (_, client) => runClient(options, client, sent));
  const running = Promise.all([...clients, runBursts(options, sent)]);
  const long: Promise<void>[] = [];
  return {
    /** Sends calls to the last gateway. Resolves when their holds are placed, or after a time. */
    beginLong: async () => {
      const calls = Array.from({ length: LONG_CALLS }, (_, index) => planCutCall(options.plan, index));
      long.push(...calls.map((call) => callOnce(options, call, sent)));
      await untilAsked(options.provider, calls);
    },
    /** Resolves to what all clients have seen once their last calls are answered. */
    finish: async (outages: readonly Outage[]) => {
      await running;
      await Promise.all(long);
      return sent.map((one) => factsOf(one, outages));
    },
  };
}

/**
 * Waits until the provider has been asked, up to a limit: a call that is refused, or finds no gateway, never gets to
 * the provider.
 */
async function untilAsked({ facts }: Provider, calls: readonly CallPlan[]): Promise<void> {
  const limit = performance.now() + LONG_BEGIN_MS_MAX;
  while (!calls.every(({ tag }) => facts.has(tag)) && performance.now() < limit) await sleep(LOOK_MS);
}

async function runClient(options: WorkloadOptions, client: number, sent: Sent[]): Promise<void> {
  for (let index = 0; !options.over.aborted; index += 1) {
    const call = planCall(options.plan, client, index);
    await callOnce(options, call, sent);
    await sleep(call.pauseMs);
  }
}

/**
 * Runs many calls at once through all gateways on a wallet or a budget that cannot pay for all: a race for its last
 * micro.
 */
async function runBursts(options: WorkloadOptions, sent: Sent[]): Promise<void> {
  const { wallets, keys } = options.plan;
  const short = wallets.filter(({ kind }) => kind === 'poor' || kind === 'capped');
  const tightKeys = keys.filter(({ kind }) => kind === 'tight').map((key): BurstPlan => ({ key }));
  const tightWallets = wallets.filter(({ kind }) => kind === 'tight').map((wallet): BurstPlan => ({ wallet }));
  const tight = tightWallets.flatMap((wallet, at) => [wallet, ...tightKeys.slice(at, at + 1)]);
  for (let index = 0; !options.over.aborted; index += 1) {
    const wallet = short[index % short.length];
    const burst = tight.shift() ?? (wallet && { wallet });
    if (burst === undefined) return;
    const places = Array.from({ length: CLIENTS }, (_, place) => CLIENTS + place);
    const calls = places.map((place) => planBurstCall(options.plan, place, index, burst));
    await Promise.all(calls.map((call) => callOnce(options, call, sent)));
    await sleep(BURST_PAUSE_MS);
  }
}

async function callOnce({ plan, fleet, provider, keys }: WorkloadOptions, call: CallPlan, sent: Sent[]): Promise<void> {
  const gateway = fleet.at(Math.floor(call.gateway * plan.gateways));
  if (gateway === undefined) return sleep(NO_GATEWAY_PAUSE_MS);
  const body = bodyOf(call);
  provider.expect(call.tag, call.answer);
  const written = writtenBy(call.wire, call);
  const seen = await sendCall({ ...gateway, ...call, key: keys.textOf(call.key), body: written });
  const { ending } = seen;
  if (ending !== 'unsent') sent.push({ call, body, life: gateway.life, seen: { ...seen, ending } });
}

function factsOf({ call, body, life, seen }: Sent, outages: readonly Outage[]): CallFacts {
  const { tag, user, key, model, isStream, outputTokensMax } = call;
  const { ending, status, code, callId, charged, usage, hasLeft, startedAt, endedAt } = seen;
  const stoppedMs = longestStopMs(life, startedAt, endedAt);
  const hasDied = life.endedAt !== undefined && life.endedAt < endedAt + OUTAGE_ECHO_MS;
  const wasOut =
    outages.some(({ from, to }) => from < endedAt + OUTAGE_ECHO_MS && to + OUTAGE_ECHO_MS > startedAt) ||
    wasCut(life, startedAt - OUTAGE_ECHO_MS, endedAt + OUTAGE_ECHO_MS);
  return {
    tag,
    user,
    key,
    model,
    isStream,
    outputTokensMax,
    bodyBytes: sentBytesOf(body),
    promptTokens: estimatedPromptOf(body),
    ending,
    status,
    code,
    callId,
    charged,
    usage,
    hasLeft,
    stoppedMs,
    isDisturbed: hasDied || wasOut || longestStopMs(life, startedAt, endedAt + OUTAGE_ECHO_MS) > 0,
  };
}
