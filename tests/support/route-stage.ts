// A call's route over hand-made upstreams, with a clock that the test moves.
import assert from 'node:assert/strict';
import type { Upstream } from '../../packages/service/src/catalogue/catalogue.ts';
import type { Asked } from '../../packages/service/src/gateway/call/call.ts';
import type { Hold } from '../../packages/service/src/gateway/call/lane.ts';
import type { Route } from '../../packages/service/src/gateway/call/route.ts';
import { createUpstreams, type Upstreams } from '../../packages/service/src/gateway/upstream/upstreams.ts';
import { ceilingOf } from '../../packages/service/src/catalogue/price.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { OwnSignal } from '../../packages/service/src/kernel/work/signal.ts';
import { UpstreamError, type UpstreamErrorKind } from '../../packages/service/src/providers/port/provider.ts';

export const ASKED: Asked = { request: {}, requestText: '{}' };
export const PROMPT = { tokensMax: 100, tokensEstimated: 25, prompts: 1 };
export const OUTPUT = 50;

const COMMON = {
  apis: ['chat'],
  isReasoning: false,
  onAbandon: 'cancel',
  timeoutMs: 10_000,
  weight: undefined,
  firstByteMs: undefined,
} as const;

/** An upstream whose tokens all cost so many micros. */
export function upstreamAt(providerName: string, micros = 1, more: Partial<Upstream> = {}): Upstream {
  const each = BigInt(micros) * 1_000_000n;
  return {
    providerName,
    provider: { kind: 'openai-compatible', baseUrl: `http://${providerName}.test/v1`, onAbandon: 'cancel' },
    providerModel: 'large',
    price: {
      priceId: BigInt(micros),
      inputMicrosPerMillion: each,
      cachedInputMicrosPerMillion: each,
      cacheWriteMicrosPerMillion: each,
      outputMicrosPerMillion: each,
      marginBasisPoints: 0n,
    },
    outputLimitParameter: 'max_tokens',
    ...COMMON,
    ...more,
  };
}

interface Setting {
  readonly isStream?: boolean;
  /** The granted hold; as much as the dearest costs unless given. */
  readonly granted?: bigint;
  readonly timeoutMs?: number;
}

export function stage(keyCount = 1) {
  let nowMs = 0;
  const keysOf = () => Array.from({ length: keyCount }, (_, key) => `key-${key}`);
  const upstreams: Upstreams = createUpstreams({
    log: createLog('silent'),
    keysOf,
    clock: { nowMs: () => nowMs },
    random: () => 0,
  });
  return {
    upstreams,
    pass: (ms: number) => void (nowMs += ms),
    routeOf: (these: readonly Upstream[], { isStream = false, granted, timeoutMs = 30_000 }: Setting = {}) => {
      const gone = new OwnSignal();
      const dearest = these
        .map(({ price }) => ceilingOf(price, PROMPT.tokensMax, OUTPUT))
        .toSorted(byAmount)
        .at(-1);
      const app = { appId: 'app' };
      const call = {
        app,
        model: { timeoutMs, contextTokens: 100_000 },
        prompt: PROMPT,
        choices: 1,
        outputTokensMax: OUTPUT,
        isStream,
      };
      const hold = { mode: 'live', call: { ...call, upstreams: these }, granted: granted ?? dearest };
      return { gone, route: upstreams.routeOf(hold as unknown as Hold<'live'>, gone) };
    },
  };
}

function byAmount(left: bigint, right: bigint): number {
  return left < right ? -1 : 1;
}

export function failure(kind: UpstreamErrorKind, retryAfterSeconds?: number): UpstreamError {
  return new UpstreamError(kind, `The provider: ${kind}.`, { retryAfterSeconds });
}

/** Takes the route with one failure after the other. Returns who was asked, and what the caller is told if nobody was left. */
export function walk(route: Route, failures: readonly UpstreamError[]) {
  const asked: string[] = [];
  for (const fault of [...failures, undefined]) {
    assert.equal(route.begin(), undefined);
    asked.push(`${route.upstream.providerName}${route.key === 0 ? '' : ` ${route.key}`}`);
    const told = fault && route.failed(fault);
    if (told !== undefined) return { asked, told: told as UpstreamError };
  }
  route.answered();
  return { asked, told: undefined };
}

/** Makes an upstream's breaker open. */
export function breakAt({ routeOf }: ReturnType<typeof stage>, upstream: Upstream, fault = failure('outage')): void {
  for (let count = 0; count < 3; count += 1) walk(routeOf([upstream]).route, [fault]);
}
