import type { Served } from '#app/catalogue/catalogue.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import { FAILED_RENEWALS_MAX } from '#app/monitoring/readiness.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { Instance } from '#db/processes/instance.ts';
import { readBuild } from '#kernel/build.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Spool } from '#ledger/settlement/spool.ts';
import { createStatus, type ServiceStatus } from '#status/status.ts';
import { troubleOf } from '#status/trouble.ts';
import { startStatusWatch } from '#status/watch.ts';

interface StatusNeeds {
  readonly instance: Pick<Instance, 'failedRenewals'>;
  /** Settlements that the database has not taken. */
  readonly spool: Pick<Spool, 'kept'>;
  readonly served: Pick<Served, 'catalogue' | 'readUpstreams'>;
}

/** How the service is. It is noted also if nobody may see it: the page may be switched on later. */
export interface Status extends Stoppable {
  /** Reads the status of the service. It is undefined if the operator shows no status. */
  readonly readStatus: (() => Promise<ServiceStatus>) | undefined;
}

export function openStatus({ pools, config, log }: Ground, { instance, spool, served }: StatusNeeds): Status {
  const look = () => troubleOf(served.readUpstreams());
  // What is noted must not wait for people who look.
  const { stop } = startStatusWatch({ db: pools.upkeep, look, clock: steadyClock, log });
  const models = () => publicModels(served.catalogue);
  const namesModels = config.statusPage === 'full';
  // On a full disk a renewal still finds room where a hold does not.
  const takesNoWrites = () => instance.failedRenewals() > FAILED_RENEWALS_MAX || spool.kept() > 0;
  const parts = { clock: steadyClock, look, takesNoWrites, models, namesModels, build: readBuild };
  const read = createStatus({ db: pools.planes, ...parts });
  return { readStatus: config.statusPage === 'off' ? undefined : read, stop };
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
