import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IncidentRow } from '#status/queries.ts';
import { createStatus, statusOf } from '#status/status.ts';
import type { Trouble } from '#status/trouble.ts';

const FINE: Trouble = { out: [], firstByteMs: new Map() };
const MODELS = ['a.one', 'a.two'].map((id) => ({ id, aliases: [] }));
const BEGAN = new Date('2026-11-23T10:00:00Z');
const ENDED = new Date('2026-11-23T10:20:00Z');

function row(model: string, state: IncidentRow['state'], ended?: Date): IncidentRow {
  return { model, state, began_at: BEGAN, ended_at: ended ?? null };
}

function statusWith(rows: readonly IncidentRow[], more: Partial<Parameters<typeof statusOf>[0]> = {}) {
  return statusOf({ rows, isReached: true, trouble: FINE, models: MODELS, namesModels: true, ...more });
}

function stateWith(...rows: readonly IncidentRow[]): string {
  return statusWith(rows).state;
}

test('OP-14 the status reflects current troubles, not past ones', () => {
  assert.equal(stateWith(), 'up');
  assert.equal(stateWith(row('a.one', 'out', ENDED), row('', 'out', ENDED)), 'up');
  assert.equal(stateWith(row('', 'slow')), 'slow');
  assert.equal(stateWith(row('a.two', 'slow')), 'slow');
  assert.equal(stateWith(row('a.two', 'out'), row('', 'slow')), 'partial');
  assert.equal(stateWith(row('a.two', 'out'), row('a.one', 'out')), 'out');
});

test('OP-14 a model this process sees fail is out', () => {
  const { state, models } = statusWith([], { trouble: { ...FINE, out: ['a.two'] } });
  assert.equal(state, 'partial');
  assert.deepEqual(
    models.map((model) => [model.id, model.state, model.sinceMs]),
    [
      ['a.one', 'up', undefined],
      ['a.two', 'out', undefined],
    ],
  );
  assert.equal(statusWith([row('a.two', 'out')]).models[1]?.sinceMs, BEGAN.getTime());
});

test('OP-14 MO-04 nothing is said of reserved or removed models', () => {
  const { state, incidents } = statusWith([row('a.reserved', 'out'), row('a.one', 'slow', ENDED)], {
    trouble: { ...FINE, out: ['a.reserved'] },
  });
  assert.equal(state, 'up');
  assert.deepEqual(incidents, [
    { about: 'model', model: 'a.one', state: 'slow', beganAtMs: BEGAN.getTime(), endedAtMs: ENDED.getTime() },
  ]);
});

test('OP-14 a brief status says that unnamed models are out', () => {
  const { state, models, incidents } = statusWith([row('a.one', 'out'), row('', 'out', ENDED)], { namesModels: false });
  assert.deepEqual([state, models], ['partial', []]);
  assert.deepEqual(
    incidents.map(({ about, model }) => [about, model]),
    [
      ['model', undefined],
      ['service', undefined],
    ],
  );
});

test('OP-14 without its database the service is out', () => {
  const status = statusWith([row('a.one', 'slow')], { isReached: false });
  assert.deepEqual([status.state, status.models, status.isStale, status.incidents.length], ['out', [], true, 1]);
});

test('OP-14 the status is put together once a second', async () => {
  const clock = { ms: 0, nowMs: () => clock.ms };
  let looked = 0;
  const read = createStatus({
    db: { query: async () => ({ rows: [] }) } as unknown as Parameters<typeof createStatus>[0]['db'],
    clock,
    look: () => {
      looked += 1;
      return FINE;
    },
    takesNoWrites: () => false,
    models: () => MODELS,
    namesModels: true,
    build: () => undefined,
  });
  await Promise.all([read(), read()]);
  clock.ms = 999;
  await read();
  assert.equal(looked, 1);
  clock.ms = 1_000;
  assert.equal((await read()).state, 'up');
  assert.equal(looked, 2);
});

test('OP-14 the commit of a build is shown only where models are', async () => {
  const build = { commit: '0123456789ab', date: '2026-11-28' };
  const shown = async (namesModels: boolean) => {
    const db = { query: async () => ({ rows: [] }) } as unknown as Parameters<typeof createStatus>[0]['db'];
    const parts = { look: () => FINE, takesNoWrites: () => false, models: () => MODELS, build: () => build };
    return (await createStatus({ db, clock: { nowMs: () => 0 }, ...parts, namesModels })()).build;
  };
  assert.deepEqual([await shown(true), await shown(false)], [build, undefined]);
});
