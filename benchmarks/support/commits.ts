import { medianOf } from '../measure.ts';
import type { BenchDatabase } from './database.ts';

/** Commits of one row, one after the other, over one connection: the median of what each takes, in micros. */
export async function timeCommits({ owner }: BenchDatabase, seconds: number): Promise<number> {
  const client = await owner.connect();
  try {
    await client.query('create table if not exists public.bench_commits (n bigint not null)');
    await client.query('set synchronous_commit = on');
    const tookMicros: number[] = [];
    const endAt = performance.now() + seconds * 1_000;
    for (let before = performance.now(); before < endAt; ) {
      await client.query({ name: 'commit', text: 'insert into public.bench_commits values ($1)', values: [1] });
      const after = performance.now();
      tookMicros.push((after - before) * 1_000);
      before = after;
    }
    return medianOf(tookMicros);
  } finally {
    client.release(true);
  }
}
