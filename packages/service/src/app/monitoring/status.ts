import type { Config } from '#app/settings/config.ts';
import { FAILED_RENEWALS_MAX } from '#app/monitoring/readiness.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { Instance } from '#db/processes/instance.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { UpstreamReport } from '#gateway/upstream/report.ts';
import { readBuild } from '#kernel/build.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Spool } from '#ledger/settlement/spool.ts';
import { createStatus, type ServiceStatus } from '#status/status.ts';
import { troubleOf } from '#status/trouble.ts';
import { startStatusWatch } from '#status/watch.ts';

interface StatusOptions {
  /** The pool for what is noted, which must not wait for people who look. */
  readonly upkeep: Pool;
  readonly pools: { readonly planes: Pool };
  readonly config: Pick<Config, 'statusPage'>;
  readonly instance: Pick<Instance, 'failedRenewals'>;
  /** Settlements that the database has not taken. */
  readonly spool: Pick<Spool, 'kept'>;
  readonly catalogue: Pick<Catalogue, 'list'> & { readonly readUpstreams: () => readonly UpstreamReport[] };
  readonly log: Log;
}

/** Notes how the service is, also if nobody may see it: the page may be switched on later. */
export function openStatus({ upkeep, pools, config, instance, spool, catalogue, log }: StatusOptions) {
  const look = () => troubleOf(catalogue.readUpstreams());
  const { stop } = startStatusWatch({ db: upkeep, look, clock: steadyClock, log });
  const models = () => publicModels(catalogue);
  const namesModels = config.statusPage === 'full';
  // On a full disk a renewal still finds room where a hold does not.
  const takesNoWrites = () => instance.failedRenewals() > FAILED_RENEWALS_MAX || spool.kept() > 0;
  const parts = { clock: steadyClock, look, takesNoWrites, models, namesModels, build: readBuild };
  const read = createStatus({ db: pools.planes, ...parts });
  const readStatus: (() => Promise<ServiceStatus>) | undefined = config.statusPage === 'off' ? undefined : read;
  return { readStatus, stop };
}

/** The models that every app may call, with their aliases. Reserved ones are nobody else's business (MO-04). */
function publicModels({ list }: Pick<Catalogue, 'list'>) {
  const aliases = new Map<string, string[]>();
  for (const { name, model } of list()) {
    if (model.resale !== 'open') continue;
    const known = aliases.get(model.id) ?? [];
    if (name !== model.id) known.push(name);
    aliases.set(model.id, known);
  }
  return Array.from(aliases, ([id, names]) => ({ id, aliases: names })).toSorted((one, other) =>
    one.id < other.id ? -1 : 1,
  );
}
