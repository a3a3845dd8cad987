import { stopDatabaseClock } from './database-clock.ts';
import { type Reply, send } from './client.ts';
import { type catalogueAt, withVectors } from './catalogue.ts';
import { revokeKey, setApp, untilRefused } from './operator-acts.ts';
import type { Code } from './refusal.ts';
import type { TestApp, TestService } from './service.ts';
import { sql } from './sql.ts';
import type { CalledWire } from './called-wire.ts';
import { ALL_WIRES, isSpoken } from './wires.ts';

/**
 * Reasons for a refusal, in the order of CC-10. Names in one row are faults of the same step. A user who is not connected
 * goes past the stream slots.
 */
export const STEPS = [
  ['too large', 'compressed'],
  ['no key'],
  ['app suspended'],
  ['too fast'],
  ['no user'],
  ['too deep', 'misshapen'],
  ['unknown parameter'],
  ['unknown model'],
  ['reserved model'],
  ['parameter of another model'],
  ['not connected'],
  ['too many streams'],
  ['wallet suspended'],
  ['cap reached'],
  ['no balance'],
] as const;

export type Fault = (typeof STEPS)[number][number];

/** Embeddings have no streams, and no parameters that only some models take. */
const OF_CONVERSATIONS: ReadonlySet<Fault> = new Set(['too many streams', 'parameter of another model']);

/** The wires on which a call can have these faults. */
export function wiresWith(...faults: readonly Fault[]): readonly CalledWire[] {
  return ALL_WIRES.filter((wire) => isSpoken(wire) || !faults.some((fault) => OF_CONVERSATIONS.has(fault)));
}

/** Each wire reads bodies of this many bytes. */
export const VIOLATION_SETTINGS = { PURSER_CALL_BODY_BYTES_MAX: '1048576' };

interface Answer {
  readonly code: Code;
  readonly param: string | null;
}

/** The answer to a fault if nothing before it is wrong. */
export function answerTo(fault: Fault, wire: CalledWire): Answer {
  return fault === 'misshapen' ? { code: 'BAD_REQUEST', param: wire.promptField } : ANSWERS[fault];
}

const ANSWERS: Readonly<Record<Exclude<Fault, 'misshapen'>, Answer>> = {
  'too large': { code: 'PAYLOAD_TOO_LARGE', param: null },
  compressed: { code: 'BAD_REQUEST', param: 'content-encoding' },
  'no key': { code: 'UNAUTHORIZED', param: null },
  'app suspended': { code: 'APP_SUSPENDED', param: null },
  'too fast': { code: 'TOO_MANY_REQUESTS', param: null },
  'no user': { code: 'BAD_REQUEST', param: 'x-service-user' },
  'too deep': { code: 'BAD_REQUEST', param: null },
  'unknown parameter': { code: 'BAD_REQUEST', param: 'unheard_of' },
  'unknown model': { code: 'BAD_REQUEST', param: 'model' },
  'reserved model': { code: 'MODEL_NOT_ENTITLED', param: 'model' },
  'parameter of another model': { code: 'BAD_REQUEST', param: 'temperature' },
  'too many streams': { code: 'CONCURRENT_STREAM_LIMIT', param: null },
  'not connected': { code: 'PAYMENT_REQUIRED', param: null },
  'wallet suspended': { code: 'WALLET_SUSPENDED', param: null },
  'cap reached': { code: 'APP_SPEND_CAP_EXCEEDED', param: null },
  'no balance': { code: 'PAYMENT_REQUIRED', param: null },
};

/** Every model takes only some parameters. Of those of each wire, the reserved one exists enabled and disabled. */
export function violationCatalogue({ models, ...rest }: ReturnType<typeof catalogueAt>) {
  const some = models.map((model) => ({
    ...model,
    ...(model.id === 'acme.off-1' ? { resale: 'reserved' } : {}),
    parameters: ['tools', 'max_tokens', 'max_completion_tokens'],
  }));
  return withVectors({ ...rest, models: some });
}

/** Sends a call with all of these faults and no others, from a user named `u` of a new app. */
export async function violate(
  service: TestService,
  faults: ReadonlySet<Fault>,
  { wire, mode }: { readonly wire: CalledWire; readonly mode: 'live' | 'sandbox' },
): Promise<Reply> {
  const app = await service.addApp({ maxStreamsPerUser: 1 });
  if (mode === 'live') await arrangeWallet(service, app, faults);
  else await arrangeFakeWallet(service, app, faults);
  if (faults.has('too fast')) await emptyBucket(service, app);
  const key = mode === 'live' ? app.liveKey : app.testKey;
  if (faults.has('app suspended')) {
    await setApp(service, app, `status = 'suspended'`);
    await untilRefused(service.url, key, 'APP_SUSPENDED');
  }
  if (faults.has('no key')) {
    await revokeKey(service, app, mode);
    await untilRefused(service.url, key, 'UNAUTHORIZED');
  }
  return send(wire.path, {
    url: service.url,
    key,
    ...(faults.has('no user') ? {} : { user: 'u' }),
    ...(faults.has('compressed') ? { headers: { 'content-encoding': 'gzip' } } : {}),
    body: bodyWith(faults, wire),
  });
}

function bodyWith(faults: ReadonlySet<Fault>, wire: CalledWire): string {
  const isNamedWrong = faults.has('unknown model');
  const reserved = isNamedWrong ? 'off' : 'secret'; // Reserved and not served, or only reserved.
  let deep: unknown = {};
  for (let level = 0; level < 40; level += 1) deep = { deep };
  const body = JSON.stringify({
    ...wire.question,
    ...(isNamedWrong ? { model: 'nothing' } : {}),
    ...(faults.has('reserved model') ? { model: isSpoken(wire) ? reserved : `${reserved}-vectors` } : {}),
    ...(faults.has('misshapen') ? { [wire.promptField]: [] } : {}),
    ...(isSpoken(wire) ? { stream: true } : {}),
    ...(faults.has('too deep') ? (isSpoken(wire) ? wire.toolsOf(deep) : { [wire.promptField]: deep }) : {}),
    ...(faults.has('unknown parameter') ? { unheard_of: 1 } : {}),
    ...(faults.has('parameter of another model') ? { temperature: 0.5 } : {}),
  });
  return faults.has('too large') ? body.padEnd(1_048_577, ' ') : body;
}

const PLENTY = 1_000_000;

async function arrangeWallet(service: TestService, app: TestApp, faults: ReadonlySet<Fault>): Promise<void> {
  const balance = faults.has('no balance') ? 1 : PLENTY;
  await service.fund(app, 'u', balance, faults.has('cap reached') ? 1 : PLENTY);
  if (faults.has('not connected')) await service.setWallet(app, 'u', 'is_connected = false');
  if (faults.has('wallet suspended')) await service.setWallet(app, 'u', 'is_suspended = true');
  if (faults.has('too many streams')) await service.setWallet(app, 'u', 'open_streams = 1');
}

async function arrangeFakeWallet(service: TestService, app: TestApp, faults: ReadonlySet<Fault>): Promise<void> {
  await sql(service)`
    insert into sandbox.wallets (app_id, user_id, balance_micros, cap_micros, is_suspended, open_streams)
    values (${app.appId}, 'u', ${faults.has('no balance') ? 1 : PLENTY}, ${faults.has('cap reached') ? 1 : PLENTY}, ${faults.has('wallet suspended')}, ${faults.has('too many streams') ? 1 : 0})`;
}

/** Empties the app's bucket for good: it refills by a clock that stands still from now on. */
export async function emptyBucket(service: TestService, { appId }: TestApp): Promise<void> {
  await stopDatabaseClock(service.database);
  await sql(service)`insert into limits.buckets (app_id, units, refilled_at_us)
    values (${appId}, 0, (extract(epoch from db.wall_clock()) * 1000000)::bigint)
    on conflict (app_id) do update set units = 0, refilled_at_us = excluded.refilled_at_us`;
}
