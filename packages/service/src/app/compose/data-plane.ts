import { createAppProfiles } from '#developers/apps/profile.ts';
import type { Cells } from '#app/cells/open-cells.ts';
import type { OpenGateway } from '#app/compose/gateway.ts';
import type { CallRecords } from '#app/monitoring/call-records.ts';
import type { Ground } from '#app/process/ground.ts';
import type { UserReads } from '#app/reports/user-usage.ts';
import type { DataPlane } from '#http/data-plane/data-plane.ts';
import { createFrameWriter } from '#http/data-plane/frame-writer.ts';
import { markPort } from '#kernel/faults/failpoint.ts';

interface DataNeeds extends Pick<DataPlane, 'links' | 'cellRoutes'> {
  readonly calls: Pick<OpenGateway, 'gateway'>;
  readonly cells: Pick<Cells, 'endOnce' | 'forwarding'>;
  readonly records: Pick<CallRecords, 'endCall'>;
  readonly users: Pick<UserReads, 'wallets' | 'usage'>;
}

/** Opens what calls and the other routes with an API key act on. */
export function openDataPlane({ config, pools, clock }: Ground, needs: DataNeeds): DataPlane {
  const { calls, cells, records, users, links, cellRoutes } = needs;
  return {
    gateway: calls.gateway,
    writers: markPort('writers', { open: createFrameWriter }),
    bodyBytesMax: config.callBodyBytesMax,
    apps: createAppProfiles(pools.reads),
    wallets: users.wallets,
    usage: users.usage,
    links,
    currency: config.currency,
    clock,
    endCall: cells.endOnce(records.endCall),
    forwarding: cells.forwarding,
    cellRoutes,
  };
}
