import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Cost, type MeteredService, startMeteredService } from './metered-service.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';

// What a call costs the service, in counts that machine load does not decide. CONTRIBUTING.md says what to do when one fails.

const PLAIN = { model: 'large', messages: [{ role: 'user', content: 'Hello' }] };
const STREAMED = { ...PLAIN, stream: true };
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const ANSWER = completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE });
const PIECES = Array.from({ length: 60 }, (_, index) => ` word${index}`);
const EVENTS = streamSteps({ model: 'large-upstream', pieces: PIECES, usage: USAGE, includeUsageChunk: true })
  .map(({ write }) => write)
  .join('');

/** The statements of a call alone, and the one that calls share. */
const LONE = ['ledger_place_one', 'ledger_settle_one'];
const LEDGER = [...LONE, 'ledger_turn'];
const BURST = 64;
/** The first call goes alone and most others go together. */
const BURST_STATEMENTS_MAX = 12;
/**
 * Statements per call. Timers and the app's token leases made at most one in fifty calls; one statement for each
 * batch of calls would be one in seven.
 */
const OTHER_STATEMENTS_MAX = 1 / 20;
/** One write for head and chunks, one for what waits for the settlement; twice that if the chunks come in two reads. */
const STREAM_WRITES_MAX = 4;
/** The first with the role, the first with text, the last and the usage; and two that are parsed to learn how texts are written. */
const CHUNK_PARSES_MAX = 6;

/**
 * Bytes that a call allocates on the JavaScript heap in unoptimised code, without what workers allocate meanwhile. The limit is a quarter above
 * `found`, which was measured on 29 November 2026. A lone call pays for two statements; 32 simultaneous calls share them. A day before, a plain
 * call allocated 104,000: each turn made twelve promises, and took its connection out of a pool and put it back.
 */
const BYTES_MAX = [
  { of: 'a plain call', found: 79_500, isStream: false, calls: 200, atOnce: 1 },
  { of: 'a plain call of 32 at once', found: 52_500, isStream: false, calls: 512, atOnce: 32 },
  { of: 'a streamed call', found: 176_000, isStream: true, calls: 100, atOnce: 1 },
  { of: 'a streamed call of 32 at once', found: 146_400, isStream: true, calls: 256, atOnce: 32 },
] as const;
const ROOM = 1.25;

/** So many that no timer of the service runs as often meanwhile. */
const WALKED = 200;
/** The files and functions of ours that each plain call enters, as counted on 29 November 2026. A call that enters more is harder to read. */
const WALK_MAX = { files: 92, functions: 401 };
/** The cheapest window counts, because other work of the service can only add to it. */
const WINDOWS = 2;
/** The service's workers allocate by the time that passes, and a busy machine takes many times as long for the same calls. */
const IDLE_MS = 700;

let metered: MeteredService;
let idleBytesPerMs: number;

before(async () => {
  metered = await startMeteredService();
  for (const { isStream } of BYTES_MAX) await run({ isStream, calls: 150, atOnce: 2 });
  // Reading the meter allocates, too.
  const reading = await leastOfIdling(0);
  idleBytesPerMs = Math.max(0, (await leastOfIdling(IDLE_MS)) - reading) / IDLE_MS;
});

after(() => metered.close());

async function leastOfIdling(durationMs: number): Promise<number> {
  const windows: number[] = [];
  while (windows.length < WINDOWS) windows.push((await metered.costOfIdling(durationMs)).allocatedBytes);
  return Math.min(...windows);
}

function run({ isStream, ...load }: { isStream: boolean; calls: number; atOnce: number }): Promise<Cost> {
  const { upstream, costOf } = metered;
  upstream.script(isStream ? { headers: { 'content-type': 'text/event-stream' }, body: EVENTS } : { body: ANSWER });
  return costOf({ ...load, body: isStream ? STREAMED : PLAIN });
}

for (const isStream of [false, true]) {
  test(`WA-07 a ${isStream ? 'streamed' : 'plain'} call alone takes two ledger statements`, async () => {
    const { statements } = await run({ isStream, calls: 50, atOnce: 1 });
    assert.deepEqual(
      LEDGER.map((kind) => statements.get(kind)),
      [50, 50, undefined],
    );
  });
}

test(`WA-07 ${BURST} calls at once share their statements`, async () => {
  const burst = { calls: BURST, body: PLAIN, answer: ANSWER };
  await metered.costOfBurst(burst); // The pool now has as many connections.
  const { statements } = await metered.costOfBurst(burst);
  const times = LEDGER.map((kind) => statements.get(kind) ?? 0);
  assert.ok(Math.max(...times) >= 1 && times.reduce((all, some) => all + some) <= BURST_STATEMENTS_MAX, String(times));
});

test('AU-09 simultaneous calls send only the ledger’s statements', async () => {
  const { statements, calls } = await run({ isStream: false, calls: 1_000, atOnce: 32 });
  const others = [...statements].filter(([kind]) => !LEDGER.includes(kind));
  assert.deepEqual(
    others.filter(([, times]) => times > calls * OTHER_STATEMENTS_MAX),
    [],
  );
});

test('200 consecutive calls use one connection to the provider', async () => {
  const cost = await run({ isStream: false, calls: 200, atOnce: 1 });
  const { connectionsToProvider, writesToProvider, writesToCaller } = cost;
  assert.ok(connectionsToProvider <= 1, `${connectionsToProvider} connections`);
  assert.deepEqual({ writesToProvider, writesToCaller }, { writesToProvider: 200, writesToCaller: 200 });
});

test('a burst of 60 chunks leaves in a few writes', async () => {
  const cost = await run({ isStream: true, calls: 50, atOnce: 1 });
  assert.ok(cost.writesToCaller <= 50 * STREAM_WRITES_MAX, `${cost.writesToCaller} writes`);
  assert.ok(cost.chunkParses >= 50 && cost.chunkParses <= 50 * CHUNK_PARSES_MAX, `${cost.chunkParses} parses`);
});

test('a plain call enters no more files and functions than counted', async (t) => {
  await run({ isStream: false, calls: 20, atOnce: 1 }); // The provider answers in this way from here on.
  const walk = await metered.walkOf(WALKED, PLAIN);
  const files = Object.keys(walk).length;
  const functions = Object.values(walk).reduce((all, some) => all + some, 0);
  t.diagnostic(`${files} files, ${functions} functions`);
  assert.ok(files <= WALK_MAX.files && functions <= WALK_MAX.functions, `${files} files, ${functions} functions`);
});

for (const { of, found, ...load } of BYTES_MAX) {
  test(`${of} allocates no more than measured`, async (t) => {
    const windows: number[] = [];
    for (let window = 0; window < WINDOWS; window += 1) {
      const { allocatedBytes, calls, durationMs } = await run(load);
      windows.push(Math.round((allocatedBytes - durationMs * idleBytesPerMs) / calls));
    }
    const bytes = Math.min(...windows);
    t.diagnostic(`${bytes} bytes for ${of}, without ${Math.round(idleBytesPerMs)} for each millisecond that passed`);
    assert.ok(bytes <= found * ROOM, `${bytes} bytes for ${of}, of windows with ${windows.join(', ')}`);
  });
}
