import type { KeyDirectory } from '#developers/keys/directory.ts';
import type { Served } from '#app/catalogue/catalogue.ts';
import type { Cells } from '#app/cells/open-cells.ts';
import type { CallRecords } from '#app/monitoring/call-records.ts';
import { declareProcessMetrics } from '#app/monitoring/process-metrics.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import type { Links } from '#connections/link.ts';
import type { Instance } from '#db/processes/instance.ts';
import type { StreamPace } from '#gateway/call/call.ts';
import { createLiveLane } from '#gateway/lanes/live-lane.ts';
import { createRunningCalls } from '#gateway/lanes/running-calls.ts';
import { createSandboxLane } from '#gateway/lanes/sandbox-lane.ts';
import type { Gateway } from '#gateway/pipeline.ts';
import { createPseudonyms } from '#gateway/request/pseudonyms.ts';
import { createRejections } from '#gateway/retries/rejections.ts';
import { createDrains } from '#gateway/stream/drains.ts';
import { createWires } from '#gateway/wires/wires.ts';
import { createIdempotency } from '#idempotency/idempotency.ts';
import { markPort } from '#kernel/faults/failpoint.ts';
import { createDrainSlots } from '#ledger/hold/drain-slots.ts';
import type { Holds } from '#ledger/holds.ts';
import { createSandboxHolds } from '#sandbox/holds/sandbox-holds.ts';

interface GatewayNeeds {
  readonly instance: Instance;
  readonly apiKeys: KeyDirectory;
  readonly served: Served;
  readonly holds: Holds;
  readonly links: Links;
  readonly cells: Pick<Cells, 'addressOf' | 'rateLimiter'>;
  readonly records: Pick<CallRecords, 'beginSpan'>;
  readonly pace: StreamPace;
}

/** What takes calls, from bytes to answer. */
export interface OpenGateway extends Stoppable {
  readonly gateway: Gateway;
  /** The number of calls that hold money, whether or not their caller is still connected. */
  readonly inFlight: () => number;
}

export function openGateway(ground: Ground, needs: GatewayNeeds): OpenGateway {
  const { config, keys, pools, clock, log } = ground;
  const { instance, apiKeys, served, holds, cells, links, records, pace } = needs;
  const { catalogue, providers, upstreams } = served;
  const running = createRunningCalls(log);
  const processMetrics = declareProcessMetrics({ callsInFlight: running.count });
  const play = pools.sandbox;
  const drainSlots = createDrainSlots({ pool: pools.reads, log });
  const sandboxHolds = createSandboxHolds({ reserve: play, settle: play }, instance, config.sandboxGrant);
  const live = createLiveLane({ holds, drainSlots, links, clientOf: providers.clientOf, upstreams, running });
  const sandbox = createSandboxLane({ holds: sandboxHolds, placeholders: links.placeholders, pace, running });
  const rateLimiter = markPort('rate', cells.rateLimiter);
  const { digests, waiting, ...kept } = createIdempotency({ pool: pools.reads, keys, log });
  const answers = markPort('answers', kept.answers);
  const gateway: Gateway = {
    wires: createWires(keys),
    keys: apiKeys,
    addressOf: cells.addressOf,
    rateLimiter,
    catalogue,
    pseudonyms: createPseudonyms(keys),
    lanes: { live: markPort('lane', live), sandbox: markPort('lane', sandbox) },
    log,
    drains: createDrains(),
    pace,
    idempotency: { digests, answers, waiting },
    rejections: createRejections(digests, clock),
    upstreams,
    keepsSessions: config.callLookupMs > 0,
    beginSpan: records.beginSpan,
  };
  return {
    gateway,
    inFlight: running.count,
    stop: () => {
      processMetrics.stop();
      return Promise.all([drainSlots, answers, rateLimiter].map(({ stop }) => stop()));
    },
  };
}
