import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { databaseAddressOf, type Host } from '#db/servers/hosts.ts';
import { createLeaderWatch, NoLeaderError } from '#db/servers/leader.ts';
import type { Probe } from '#db/servers/probe.ts';
import { createLog } from '#kernel/log.ts';

const STANDBY = 0;

/** What each server says: its timeline, or `frozen` for one that never answers. */
type Says = Record<string, { timeline: number; system?: string } | 'frozen' | 'gone'>;

function watchOver(t: TestContext, says: Says) {
  const asked: string[] = [];
  const open = async (_url: string, { name }: Host): Promise<Probe> => {
    asked.push(name);
    if (says[name] === 'frozen') await new Promise(() => {});
    if (says[name] === 'gone') throw new Error('refused');
    return {
      ask: async () => {
        const one = says[name];
        if (one === 'frozen') return new Promise(() => {});
        if (one === undefined || one === 'gone') throw new Error('gone');
        return { systemId: one.system ?? 'ours', timeline: one.timeline };
      },
      close: () => {},
    };
  };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const address = databaseAddressOf(`postgres://u@${Object.keys(says).join(',')}/d`);
  return { asked, watch: createLeaderWatch({ address, log: createLog('silent'), open }) };
}

/** Lets time pass in small steps, with everything that it sets off. */
async function pass(t: TestContext, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    t.mock.timers.tick(50);
  }
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

async function during<Result>(t: TestContext, work: Promise<Result>, ms: number): Promise<Result> {
  const [result] = await Promise.all([work, pass(t, ms)]);
  return result;
}

test('OP-11 no frozen server delays a search, and standbys never lead', async (t) => {
  const { watch } = watchOver(t, { a: 'frozen', b: { timeline: STANDBY }, c: { timeline: 3 } });
  const leader = await during(t, watch.find(), 300);
  assert.deepEqual([leader.host.name, leader.timeline], ['c', 3]);
});

test('OP-11 of two writable servers, the later promoted one leads', async (t) => {
  const { watch } = watchOver(t, { a: { timeline: 3 }, b: { timeline: 4 } });
  assert.equal((await during(t, watch.find(), 300)).host.name, 'b');
});

test('OP-11 a new leader cuts old connections for good', async (t) => {
  const says: Says = { a: { timeline: 3 }, b: { timeline: STANDBY } };
  const { watch } = watchOver(t, says);
  const first = await during(t, watch.find(), 50);
  const cuts: string[] = [];
  watch.follow(first, () => cuts.push('first'));
  says['b'] = { timeline: 4 };
  says['a'] = { timeline: STANDBY };
  await pass(t, 1_500);
  assert.deepEqual(cuts, ['first']);
  const second = await watch.find();
  assert.deepEqual([second.host.name, second.timeline], ['b', 4]);
  watch.follow(second, () => cuts.push('second'));
  says['a'] = { timeline: 3 };
  says['b'] = 'gone';
  watch.doubt();
  await pass(t, 1_500);
  await assert.rejects(during(t, watch.find(), 300), NoLeaderError);
  assert.deepEqual(cuts, ['first'], 'nobody else leads, so the connections may still come back');
  says['a'] = { timeline: 5 };
  await pass(t, 1_500);
  assert.deepEqual([(await watch.find()).host.name, cuts], ['a', ['first', 'second']]);
});

test('OP-11 a promotion is noticed while a frozen server is searched', async (t) => {
  const says: Says = { a: 'frozen', b: { timeline: STANDBY } };
  const { watch } = watchOver(t, says);
  const found = watch.find();
  await pass(t, 500);
  says['b'] = { timeline: 4 };
  assert.equal((await during(t, found, 600)).host.name, 'b');
});

test('OP-11 hosts of two clusters have no leader at the start', async (t) => {
  const says: Says = { a: { timeline: 3 }, b: { timeline: 9, system: 'theirs' } };
  await assert.rejects(during(t, watchOver(t, says).watch.find(), 300), NoLeaderError);
  t.mock.timers.reset();
  says['b'] = { timeline: STANDBY };
  const { watch } = watchOver(t, says);
  await during(t, watch.find(), 300);
  says['b'] = { timeline: 9, system: 'theirs' };
  watch.follow(await watch.find(), () => {});
  watch.doubt();
  await pass(t, 1_000);
  assert.equal((await watch.find()).host.name, 'a');
});
