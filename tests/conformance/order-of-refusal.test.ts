import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callRoute, FOR_USER } from '../support/every-route-refuses.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';
import {
  answerTo,
  emptyBucket,
  type Fault,
  STEPS,
  violate,
  VIOLATION_SETTINGS,
  violationCatalogue,
  wiresWith,
} from '../support/violations.ts';
import type { CalledWire } from '../support/called-wire.ts';
import { everyWire } from '../support/wires.ts';

const { upstream, service } = await setStage({ catalogue: violationCatalogue, environment: VIOLATION_SETTINGS });
upstream.script({ body: completionBody({ model: 'm', content: 'Hi' }) });

const MODES = ['live', 'sandbox'] as const;
/** Sandbox money has no connection that could be missing. */
const LIVE_ONLY: ReadonlySet<Fault> = new Set(['not connected']);

/**
 * Asserts that a request is refused for the first fault, in each mode that has both faults, and that no provider is
 * reached.
 */
async function assertFirstWins(wire: CalledWire, first: Fault, second?: Fault): Promise<void> {
  const faults = new Set<Fault>(second === undefined ? [first] : [first, second]);
  for (const mode of MODES) {
    if (mode === 'sandbox' && [...faults].some((fault) => LIVE_ONLY.has(fault))) continue;
    const reply = await violate(service, faults, { wire, mode });
    assertRefusal(reply, answerTo(first, wire), `${mode}: ${[...faults].join(' + ')}`);
  }
  assert.equal(upstream.requests.length, 0);
}

for (const fault of STEPS.flat()) {
  everyWire.test(
    `CC-10 a call whose only fault is "${fault}" is refused for it`,
    (wire) => assertFirstWins(wire, fault),
    wiresWith(fault),
  );
}

for (const [index, step] of STEPS.entries()) {
  for (const first of step) {
    for (const second of STEPS[index + 1] ?? []) {
      const [chat, ...others] = wiresWith(first, second);
      const wires = [chat, others[index % others.length]].filter((wire) => wire !== undefined);
      everyWire.test(
        `CC-10 "${first}" is refused before "${second}"`,
        (wire) => assertFirstWins(wire, first, second),
        wires,
      );
    }
  }
}

test('CC-10 of any two distant faults, the earlier is reported', async () => {
  for (const [index, step] of STEPS.entries()) {
    for (const first of step) {
      for (const [place, second] of STEPS.slice(index + 2)
        .flat()
        .entries()) {
        const wires = wiresWith(first, second);
        await assertFirstWins(wires[place % wires.length] ?? assert.fail(), first, second);
      }
    }
  }
});

everyWire.test('CC-10 a call with every fault is refused for its size', async (wire) => {
  const all = new Set(STEPS.flat());
  all.delete('compressed'); // Faults of the same step: the order of the two is not specified.
  assertRefusal(await violate(service, all, { wire, mode: 'live' }), answerTo('too large', wire));
});

everyWire.test('CC-10 a call without any fault is not refused', async (wire) => {
  upstream.script({ status: 500, body: '' });
  assertRefusal(await violate(service, new Set(), { wire, mode: 'live' }), { code: 'UPSTREAM_PROVIDER_ERROR' });
  assert.equal((await violate(service, new Set(), { wire, mode: 'sandbox' })).status, 200);
});

const BODYLESS = FOR_USER.filter(({ method }) => method === 'GET');
const DEEP = '['.repeat(40) + ']'.repeat(40);

test('CC-10 bodyless end-user routes check the rate before the user', async () => {
  for (const route of BODYLESS) {
    const app = await service.addApp();
    const call = { url: service.url, key: app.liveKey, body: DEEP };
    assertRefusal(await callRoute(route, { ...call, user: 'u' }), { code: 'BAD_REQUEST', param: null }, route.name);
    await emptyBucket(service, app);
    assertRefusal(await callRoute(route, call), { code: 'TOO_MANY_REQUESTS' }, route.name);
  }
});

test('CC-10 bodyless end-user routes check the user before the depth', async () => {
  const app = await service.addApp();
  for (const route of BODYLESS) {
    const reply = await callRoute(route, { url: service.url, key: app.liveKey, body: DEEP });
    assertRefusal(reply, { code: 'BAD_REQUEST', param: 'x-service-user' }, route.name);
  }
});
