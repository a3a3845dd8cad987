import type { Queryable } from '#db/pool/pool.ts';
import type { Build } from '#kernel/build.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import { type IncidentRow, selectIncidents } from '#status/queries.ts';
import type { Trouble } from '#status/trouble.ts';

/** A model that everybody may call. */
interface PublicModel {
  /** The resolved identifier. */
  readonly id: string;
  readonly aliases: readonly string[];
}

type ModelState = 'up' | 'slow' | 'out';

export interface ModelStatus extends PublicModel {
  readonly state: ModelState;
  /** Since when the model is not up. It is undefined while it is up, and in the seconds until that is noted. */
  readonly sinceMs: number | undefined;
}

/** A time in which the service or a model was out or slow. */
export interface Incident {
  readonly about: 'service' | 'model';
  /** The resolved identifier. Undefined for the whole service, and if no models are named. */
  readonly model: string | undefined;
  readonly state: 'out' | 'slow';
  readonly beganAtMs: number;
  /** When the incident ended. It is undefined while it goes on. */
  readonly endedAtMs: number | undefined;
}

/** How the service is, as everybody may know it: no providers, no volumes, no money, and nothing of reserved models. */
export interface ServiceStatus {
  /** With `partial`, some models are out. */
  readonly state: 'up' | 'slow' | 'partial' | 'out';
  /** The models in alphabetical order. The list is empty if the page names no models. */
  readonly models: readonly ModelStatus[];
  /** The incidents: first those that go on, then the latest. */
  readonly incidents: readonly Incident[];
  /** The database could not be read: incidents are those of an earlier reading. */
  readonly isStale: boolean;
  /** The commit of this build. Undefined if the page names nothing, and where nobody knows it. */
  readonly build: Build | undefined;
}

interface StatusOptions {
  readonly db: Queryable;
  readonly clock: SteadyClock;
  /** What this process knows by itself. The database has what the others know as well. */
  readonly look: () => Trouble;
  /** The database takes no writes, as those of this process show. */
  readonly takesNoWrites: () => boolean;
  /** The models that everybody may call. */
  readonly models: () => readonly PublicModel[];
  /** Whether models are named. */
  readonly namesModels: boolean;
  /** The commit of this build, which is shown where models are. */
  readonly build: () => Build | undefined;
}

export const INCIDENT_DAYS = 30;
const INCIDENTS_MAX = 30;
/** The database is asked this seldom, however many people look. */
const KEPT_MS = 5_000;
/** What is put together of it is kept for so long: there may be hundreds of models, and anybody may ask. */
const PUBLIC_KEPT_MS = 1_000;
/** A page that waits for a database that is away says nothing. */
const WAIT_MS_MAX = 2_000;

/** Returns what reads the status. It never fails, and takes at most two seconds. */
export function createStatus(options: StatusOptions): () => Promise<ServiceStatus> {
  const { db, clock, look, takesNoWrites, models, namesModels, build } = options;
  let kept: { readonly atMs: number; readonly rows: Promise<readonly IncidentRow[] | undefined> } | undefined;
  let latest: readonly IncidentRow[] = [];

  async function select(): Promise<readonly IncidentRow[] | undefined> {
    try {
      const ids = models().map(({ id }) => id);
      latest = await selectIncidents(db, { days: INCIDENT_DAYS, most: INCIDENTS_MAX, models: ids });
      return latest;
    } catch {
      return undefined; // The watch has logged it.
    }
  }

  async function rowsNow(): Promise<readonly IncidentRow[] | undefined> {
    const nowMs = clock.nowMs();
    if (kept === undefined || nowMs - kept.atMs >= KEPT_MS) kept = { atMs: nowMs, rows: select() };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), WAIT_MS_MAX);
    });
    const rows = await Promise.race([kept.rows, late]);
    clearTimeout(timer);
    return rows;
  }

  async function statusNow(): Promise<ServiceStatus> {
    const rows = await rowsNow();
    const isReached = rows !== undefined && !takesNoWrites();
    const now = statusOf({ rows: rows ?? latest, isReached, trouble: look(), models: models(), namesModels });
    return { ...now, build: namesModels ? build() : undefined };
  }

  let made: { readonly atMs: number; readonly status: Promise<ServiceStatus> } | undefined;
  return () => {
    const nowMs = clock.nowMs();
    if (made === undefined || nowMs - made.atMs >= PUBLIC_KEPT_MS) made = { atMs: nowMs, status: statusNow() };
    return made.status;
  };
}

interface Known {
  readonly rows: readonly IncidentRow[];
  /** The database answers and takes what is noted. Without it no call is served. */
  readonly isReached: boolean;
  readonly trouble: Trouble;
  readonly models: readonly PublicModel[];
  readonly namesModels: boolean;
}

/** Puts together what is public of it. */
export function statusOf({ rows, isReached, trouble, models, namesModels }: Known): Omit<ServiceStatus, 'build'> {
  const ids = new Set(models.map(({ id }) => id));
  const shown = rows.filter(({ model }) => model === '' || ids.has(model));
  const open = isReached ? shown.filter(({ ended_at }) => ended_at === null) : [];
  const states = models.map((model) => ({ ...model, ...stateOf(model.id, open, trouble) }));
  const isSlow = open.some(({ model, state }) => model === '' && state === 'slow');
  return {
    state: isReached ? wholeOf(states, isSlow) : 'out',
    models: namesModels && isReached ? states : [],
    incidents: shown.slice(0, INCIDENTS_MAX).map((row) => incidentOf(row, namesModels)),
    isStale: !isReached,
  };
}

function stateOf(
  id: string,
  open: readonly IncidentRow[],
  { out }: Trouble,
): { readonly state: ModelState; readonly sinceMs: number | undefined } {
  const noted = (state: ModelState) => open.find((row) => row.model === id && row.state === state)?.began_at.getTime();
  const outSinceMs = noted('out');
  if (outSinceMs !== undefined || out.includes(id)) return { state: 'out', sinceMs: outSinceMs };
  const slowSinceMs = noted('slow');
  return { state: slowSinceMs === undefined ? 'up' : 'slow', sinceMs: slowSinceMs };
}

function wholeOf(models: readonly ModelStatus[], isSlow: boolean): ServiceStatus['state'] {
  const out = models.filter(({ state }) => state === 'out').length;
  if (out > 0) return out === models.length ? 'out' : 'partial';
  return isSlow || models.some(({ state }) => state === 'slow') ? 'slow' : 'up';
}

function incidentOf(
  { model, state, began_at: beganAt, ended_at: endedAt }: IncidentRow,
  namesModels: boolean,
): Incident {
  return {
    about: model === '' ? 'service' : 'model',
    model: model === '' || !namesModels ? undefined : model,
    state,
    beganAtMs: beganAt.getTime(),
    endedAtMs: endedAt?.getTime(),
  };
}
