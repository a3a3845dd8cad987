import { plainArray, textArray } from '#db/records/array-literal.ts';
import type { Queryable } from '#db/pool/pool.ts';

/** What a process saw since it last looked. */
export interface Observation {
  /** The milliseconds since this process last noted anything. It is undefined the first time. */
  readonly silentMs: number | undefined;
  /** The database takes long. */
  readonly isSlow: boolean;
  /** Models that fail. */
  readonly out: readonly string[];
  /** How long streams took to begin, by model. */
  readonly firstByteMs: ReadonlyMap<string, number>;
}

/** Notes it, and begins, continues and ends incidents by it (`observe.sql`). */
export async function observe(db: Queryable, { silentMs, isSlow, out, firstByteMs }: Observation): Promise<void> {
  await db.query(`select status.observe($1, $2, $3::text[], $4::text[], $5::float8[])`, [
    silentMs ?? null,
    isSlow,
    textArray(out),
    textArray([...firstByteMs.keys()]),
    plainArray([...firstByteMs.values()]),
  ]);
}

export interface IncidentRow {
  /** The model. It is '' for the whole service. */
  readonly model: string;
  readonly state: 'out' | 'slow';
  readonly began_at: Date;
  /** When the incident ended. It is null while it goes on. */
  readonly ended_at: Date | null;
}

/** Incidents of the service and of these models: all that go on, and then the `most` latest that ended within `days`. */
export async function selectIncidents(
  db: Queryable,
  { days, most, models }: { readonly days: number; readonly most: number; readonly models: readonly string[] },
): Promise<readonly IncidentRow[]> {
  const { rows } = await db.query<IncidentRow>(
    `select model, state, began_at, ended_at from status.incidents
     where (model = '' or model = any ($3::text[])) and (ended_at is null or ended_at > clock_timestamp() - $1 * interval '1 day')
     order by ended_at is null desc, began_at desc
     limit $2 + (select count(*) from status.incidents where ended_at is null)`,
    [days, most, textArray(models)],
  );
  return rows;
}
