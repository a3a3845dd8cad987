import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { CalledWire } from '../../support/called-wire.ts';
import type { Reply } from '../../support/client.ts';
import { EMBEDDINGS } from '../../support/embeddings-wire.ts';
import { ROUNDS } from '../../support/rounds.ts';
import {
  completionBody,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
  type UpstreamScript,
} from '../../support/scripted-upstream.ts';
import { startTestService } from '../../support/service.ts';
import { asVectors, catalogueOf, type UpstreamEntry } from '../../support/several-upstreams.ts';
import { ask, isSpoken, saidIn, WIRES } from '../../support/wires.ts';

/**
 * Calls while two of three upstreams throttle, hang and die in turn, with fallback and beside it without (CC-16). A few hundred here;
 * `npm run proofs -- storm` makes 10,000 of each.
 */

const CALLS = ROUNDS * 100;
const AT_ONCE = 24;
const USERS = 10;
const FUNDS = 100_000_000;
const CALLS_IN_PHASE_MAX = 500;
const PHASE_CALLS = Math.min(CALLS / 3, CALLS_IN_PHASE_MAX);

type Name = 'a' | 'b' | 'c';
type Model = 'fallback' | 'alone' | 'vectors';
const NAMES: readonly Name[] = ['a', 'b', 'c'];
/** Micros for each token. */
const MICROS: Readonly<Record<Name, number>> = { a: 1, b: 2, c: 3 };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
/** What is paid of it: vectors have no output. */
const TOKENS: Readonly<Record<Model, number>> = { fallback: 15, alone: 15, vectors: 10 };
/** The most output that a call asks for, which every model here allows. */
const LIMIT = 100;

const WEATHERS = [
  { a: 'well', b: 'throttles', c: 'hangs' },
  { a: 'hangs', b: 'well', c: 'dies' },
  { a: 'dies', b: 'throttles', c: 'well' },
  { a: 'throttles', b: 'hangs', c: 'well' },
  { a: 'well', b: 'dies', c: 'throttles' },
  { a: 'hangs', b: 'dies', c: 'well' },
] as const satisfies readonly Readonly<Record<Name, string>>[];
type Weather = (typeof WEATHERS)[number][Name];

/** How many calls of each model have begun. */
const begun: Record<Model, number> = { fallback: 0, alone: 0, vectors: 0 };
const weatherOf = (name: Name, model: Model): Weather =>
  WEATHERS[Math.floor(begun[model] / PHASE_CALLS) % WEATHERS.length]?.[name] ??
  assert.fail('there is always some weather');

/** The content of an answer says who gave it. */
function scriptOf(name: Name, asked: { readonly model: string; readonly stream?: boolean }): UpstreamScript {
  const model = (['alone', 'vectors'] as const).find((one) => asked.model === `${one}-upstream`) ?? 'fallback';
  switch (weatherOf(name, model)) {
    case 'throttles':
      return { status: 429, headers: { 'content-type': 'application/json', 'retry-after': '1' }, body: '{}' };
    case 'hangs':
      return { body: [{ hang: true }] };
    case 'dies':
      return { body: [{ destroy: true }] };
    case 'well':
      if (model === 'vectors') return EMBEDDINGS.saying(`served by ${name}`, USAGE);
      return asked.stream === true
        ? { body: streamSteps({ model: 'x', pieces: [`served by ${name}`], usage: USAGE, includeUsageChunk: true }) }
        : { body: completionBody({ model: 'x', content: `served by ${name}`, usage: USAGE }) };
  }
}

async function startUpstream(name: Name): Promise<readonly [Name, ScriptedUpstream]> {
  const upstream = await startScriptedUpstream();
  upstream.script(({ body }) => scriptOf(name, body as Parameters<typeof scriptOf>[1]));
  return [name, upstream];
}

const servers = new Map(await Promise.all(NAMES.map(startUpstream)));
const entryOf = (provider: Name): UpstreamEntry => ({
  provider,
  micros: MICROS[provider],
  fields: { timeoutMs: 1_500, firstByteMs: 1_500 },
});
const weighted = NAMES.map((name) => ({ ...entryOf(name), fields: { ...entryOf(name).fields, weight: 1 } }));
const entries = { fallback: weighted, alone: [entryOf('a')], vectors: weighted };
const catalogue = catalogueOf(Object.fromEntries(servers), entries);
const models = catalogue.models.map((model) => (model.id === 'acme.vectors' ? asVectors(model) : model));
const service = await startTestService({ ...catalogue, models });
const app = await service.addApp();

after(async () => {
  await service.close();
  for (const server of servers.values()) await server.close();
});

interface Ended {
  readonly status: number;
  /** What answered the call. It is undefined if the call was not answered. */
  readonly by: Name | undefined;
  readonly charged: number;
  readonly ms: number;
}

function read(wire: CalledWire, reply: Reply, ms: number): Ended {
  const { status } = reply;
  if (status !== 200) return { status, by: undefined, charged: 0, ms };
  const { text, code, charged = 0 } = saidIn(wire, reply);
  return {
    status,
    by: code === undefined ? NAMES.find((name) => text === `served by ${name}`) : undefined,
    charged,
    ms,
  };
}

/** Makes the calls of one model, so many at once, every other one streamed, by each wire in turn. */
async function storm(model: Model): Promise<readonly Ended[]> {
  for (let user = 0; user < USERS; user += 1) await service.fund(app, `${model}-${user}`, FUNDS);
  const ended: Ended[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < CALLS) {
      const index = next;
      next += 1;
      begun[model] = index;
      const startMs = performance.now();
      const caller = { url: service.url, key: app.liveKey, user: `${model}-${index % USERS}` };
      const wire = model === 'vectors' ? EMBEDDINGS : (WIRES[Math.floor(index / 2) % WIRES.length] ?? assert.fail());
      const asked = isSpoken(wire) ? { [wire.limitField]: LIMIT, stream: index % 2 === 1 } : {};
      const reply = await ask(wire, caller, { model: `acme.${model}`, ...asked });
      ended.push(read(wire, reply, performance.now() - startMs));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ended;
}

interface Booked {
  readonly calls: number;
  readonly charged: number;
  readonly atOther: number;
  readonly failedCharged: number;
}

/** What the receipts of a model say: calls, money, and what must not be there. */
async function booked(model: Model): Promise<Booked | undefined> {
  const { rows } = await service.database.owner.query<Booked>(
    `select count(*)::int as calls, coalesce(sum(c.charged_micros), 0)::float8 as charged,
       count(*) filter (where c.outcome = 'answered'
         and c.charged_micros <> ${TOKENS[model]} * p.input_micros_per_million / 1000000)::int as "atOther",
       count(*) filter (where c.outcome <> 'answered' and c.charged_micros > 0)::int as "failedCharged"
     from usage.calls c left join catalogue.prices p on p.price_id = c.price_id where c.model = $1`,
    [`acme.${model}`],
  );
  return rows[0];
}

async function walletsOf(model: string): Promise<{ readonly spent: number; readonly held: number }> {
  let spent = 0;
  let heldInAll = 0;
  for (let user = 0; user < USERS; user += 1) {
    const { balance, held } = await service.wallet(app, `${model}-${user}`);
    spent += FUNDS - balance;
    heldInAll += held;
  }
  return { spent, held: heldInAll };
}

/** Checks the money of a storm and returns its row of the table. */
async function account(model: Model, ended: readonly Ended[]) {
  const answered = ended.filter(({ by }) => by !== undefined);
  const charged = ended.reduce((sum, one) => sum + one.charged, 0);
  for (const { by, charged: micros } of ended) {
    assert.equal(
      micros,
      by === undefined ? 0 : TOKENS[model] * MICROS[by],
      'a call costs what its upstream costs, or nothing',
    );
  }
  const { spent, held } = await walletsOf(model);
  const books = await booked(model);
  assert.deepEqual({ spent, held }, { spent: charged, held: 0 }, 'no call is charged twice, and no hold is left');
  assert.deepEqual(books, { calls: CALLS, charged, atOther: 0, failedCharged: 0 });
  const times = ended.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)] ?? 0);
  const by = (name: Name) => answered.filter((one) => one.by === name).length;
  const status = (code: number) => ended.filter((one) => one.by === undefined && one.status === code).length;
  return {
    calls: ended.length,
    answered: answered.length,
    'answered %': Math.round((answered.length / ended.length) * 10_000) / 100,
    'failed 429': status(429),
    'failed 502': status(502),
    'by a, b, c': NAMES.map(by).join(', '),
    'charged micros': charged,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
  };
}

test('CC-16 CC-09 a fallback costs the serving provider’s price', async () => {
  const [fallback, alone, vectors] = await Promise.all([storm('fallback'), storm('alone'), storm('vectors')]);
  const rows = {
    fallback: await account('fallback', fallback),
    alone: await account('alone', alone),
    vectors: await account('vectors', vectors),
  };
  console.table(rows);
  assert.deepEqual(await service.check(), []);
  // Not all of them: while the weather changes, a call may meet each upstream in its bad hour. A busy machine makes more of these.
  for (const { answered } of [rows.fallback, rows.vectors])
    assert.ok(answered > 2 * rows.alone.answered, 'fallback answers');
  assert.ok(rows.alone['answered %'] < 80, 'and without it, the storm is felt');
});
