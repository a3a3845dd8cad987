import assert from 'node:assert/strict';
import { send } from './client.ts';

/** The result of `GET /metrics`: each series as it is written, with its value. */
export type Scrape = ReadonlyMap<string, number>;

const LINE = /^(?:# (?:HELP|TYPE) purser_\w+ .+|(purser_\w+(?:\{[^}]*\})?) (\S+))$/;

/** Reads the metrics and checks the format of every line. */
export async function scrape(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Scrape> {
  const reply = await send('/metrics', { url, headers });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  assert.ok(reply.text.endsWith('\n'));
  const series = new Map<string, number>();
  for (const line of reply.text.slice(0, -1).split('\n')) {
    const match = LINE.exec(line);
    assert.ok(match !== null, line);
    const [, name, value] = match;
    if (name === undefined) continue;
    assert.ok(!series.has(name) && Number.isFinite(Number(value)), line);
    series.set(name, Number(value));
  }
  return series;
}

/** The increase of each series between two readings, without those that did not change. */
export function added(before: Scrape, after: Scrape): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Array.from(after, ([name, value]) => [name, value - (before.get(name) ?? 0)] as const).filter(([, by]) => by !== 0),
  );
}
