import {
  appId as appIdOf,
  accountId as accountIdOf,
  identityId as identityIdOf,
} from '@purser/contract/identifiers.ts';
import { type AccountRow, selectAccountByEmail, selectAccountById } from '#developers/accounts/queries.ts';
import { normalisedEmail } from '#developers/accounts/email.ts';
import { selectAppDetails } from '#developers/apps/operator-queries.ts';
import { selectAppOfKey } from '#developers/keys/queries.ts';
import { selectMembers, selectMemberships } from '#developers/teams/queries.ts';
import { selectConnectionById, selectConnectionsOf } from '#connections/queries.ts';
import { ownerOfWallet } from '#connections/release.ts';
import type { Pool } from '#db/pool/pool.ts';
import { emailOf } from '#people/email.ts';
import { selectIdentity, selectIdentityByEmail } from '#people/queries.ts';
import {
  type AppId,
  type CallId,
  type EndUserId,
  parseCallId,
  parseCorrelationId,
  parseEndUserId,
} from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { selectHoldOfCall, selectWalletByNumber } from '#ledger/history/call-queries.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { findByProcessorId, PAYMENT_FINDERS } from '#operator/look-up/find-payments.ts';
import { type Entity, type FoundEntity, nothing, walletEntity } from '#operator/look-up/entities.ts';
import { selectPending } from '#operator/acts/queries.ts';
import { listPayments } from '#payments/refunds/refunds.ts';
import { selectAnyEvent } from '#webhooks/history/attention-queries.ts';

/** A call as `findCalls` gives it. */
interface FoundCall {
  readonly appId: AppId;
  readonly userId: EndUserId | undefined;
  readonly callId: CallId | undefined;
  readonly correlationId: string | undefined;
  readonly model: string | undefined;
  readonly outcome: string;
  readonly mode: 'live' | 'sandbox';
  readonly atMs: number;
  readonly charged: Micros;
}

interface FinderOptions {
  readonly pool: Pool;
  /** Finds calls by one of their two ids. */
  readonly findCalls: (
    name: { readonly callId: CallId } | { readonly correlationId: string },
  ) => Promise<readonly FoundCall[]>;
}

/**
 * Finds an entity of any kind by its id, whose prefix says what it is. A mail address must be exact, and finds the person who owns wallets and
 * the account. `app_… user` is a wallet. Everything else is the processor's id of a payment, the number of a wallet, or the correlation id of calls. At most some hundred entities; nothing if
 * nothing has the id. Every look-up is by an index.
 */
export type FindAnything = (text: string) => Promise<readonly FoundEntity[]>;

const RELATED_MAX = 100;
/** The number of a wallet, by which the check of the ledger names it. */
const NUMBER = /^[1-9]\d{0,17}$/;
const WALLET = /^(app_[0-9A-Za-z]+)(?:\s+|\/)(\S+)$/;

export function createFinder({ pool, findCalls }: FinderOptions): FindAnything {
  const byPrefix: Readonly<Record<string, (id: string) => Promise<readonly FoundEntity[]>>> = {
    app_: (id) => findApp(pool, appIdOf.parse(id)),
    key_: (id) => findKey(pool, id),
    acct_: async (id) => foundAccount(pool, await selectAccountById(pool, accountIdOf.parse(id))),
    idn_: async (id) => foundIdentity(pool, await selectIdentity(pool, identityIdOf.parse(id))),
    con_: (id) => findConnection(pool, id),
    evt_: (id) => findEvent(pool, id),
    pnd_: (id) => findPending(pool, id),
  };
  return async (typed) => {
    const text = typed.trim();
    const [, app = '', user = ''] = WALLET.exec(text) ?? [];
    if (app !== '') return findWallet(pool, appIdOf.parse(app), parseEndUserId(user));
    if (text.includes('@')) return findPerson(pool, text);
    const callId = parseCallId(text.toLowerCase());
    if (callId !== undefined) return callsOrHold(pool, callId, await findCalls({ callId }));
    const isOf = ([prefix]: readonly [string, unknown]) => text.startsWith(prefix);
    const ofPayments = Object.entries(PAYMENT_FINDERS).find(isOf)?.[1];
    const look = Object.entries(byPrefix).find(isOf)?.[1];
    const found = (await ofPayments?.(pool, text)) ?? (await look?.(text)) ?? [];
    if (found.length > 0 || parseCorrelationId(text) === undefined) return found;
    // A caller may choose a correlation id that looks like any other id.
    const [calls, paid, numbered] = await Promise.all([
      findCalls({ correlationId: text }),
      findByProcessorId(pool, text),
      NUMBER.test(text) ? findWalletByNumber(pool, BigInt(text)) : [],
    ]);
    return [...paid, ...numbered, ...calls.map(foundCall)];
  };
}

function foundCall(call: FoundCall): FoundEntity {
  const { appId, userId, callId, correlationId, mode } = call;
  return {
    kind: 'call',
    id: callId ?? correlationId ?? '',
    name: call.model,
    state: call.outcome,
    atMs: call.atMs,
    amount: call.charged,
    // Play money is in no wallet of the ledger.
    related: [
      { kind: 'app', id: appId },
      ...(userId === undefined || mode === 'sandbox' ? [] : [walletEntity(appId, userId)]),
    ],
  };
}

/** A call that runs has neither a receipt nor a trace, only its hold. */
async function callsOrHold(pool: Pool, callId: CallId, calls: readonly FoundCall[]): Promise<readonly FoundEntity[]> {
  if (calls.length > 0) return calls.map(foundCall);
  const hold = await selectHoldOfCall(pool, callId);
  if (hold === undefined) return [];
  return [
    {
      ...nothing,
      kind: 'call',
      id: callId,
      state: 'running',
      atMs: hold.placed_at.getTime(),
      related: [{ kind: 'app', id: hold.app_id }, walletEntity(hold.app_id, hold.user_id)],
    },
  ];
}

async function findApp(pool: Pool, appId: AppId): Promise<readonly FoundEntity[]> {
  const row = await selectAppDetails(pool, appId);
  if (row === undefined) return [];
  const members = await selectMembers(pool, appId);
  return [
    {
      ...nothing,
      kind: 'app',
      id: appId,
      name: row.name,
      state: row.status,
      atMs: row.created_at.getTime(),
      related: members.map((member) => ({ kind: 'account', id: member.account_id, name: member.email })),
    },
  ];
}

async function findKey(pool: Pool, id: string): Promise<readonly FoundEntity[]> {
  const row = await selectAppOfKey(pool, id);
  if (row === undefined) return [];
  const state = `${row.mode}, ${row.is_revoked ? 'revoked' : 'not revoked'}`;
  return [
    { ...nothing, kind: 'key', id, name: row.name ?? undefined, state, related: await appAndOwners(pool, row.app_id) },
  ];
}

async function foundAccount(pool: Pool, row: AccountRow | undefined): Promise<readonly FoundEntity[]> {
  if (row === undefined) return [];
  const apps = await selectMemberships(pool, row.account_id);
  return [
    {
      ...nothing,
      kind: 'account',
      id: row.account_id,
      name: row.email,
      state: row.is_disabled ? 'disabled' : (row.operator_role ?? row.role),
      atMs: row.created_at.getTime(),
      related: apps.map((app) => ({ kind: 'app', id: app.app_id, name: app.name })),
    },
  ];
}

async function foundIdentity(
  pool: Pool,
  row: Awaited<ReturnType<typeof selectIdentity>>,
): Promise<readonly FoundEntity[]> {
  if (row === undefined) return [];
  const owned = await selectConnectionsOf(pool, row.identity_id, RELATED_MAX);
  const related = owned.map((one) => walletEntity(one.app_id, one.user_id));
  return [{ ...nothing, kind: 'identity', id: row.identity_id, name: row.email, related }];
}

/** The owner of wallets and the account with exactly this mail address. */
async function findPerson(pool: Pool, text: string): Promise<readonly FoundEntity[]> {
  const email = emailOf(text);
  const [person, account] = await Promise.all([
    email && selectIdentityByEmail(pool, email),
    selectAccountByEmail(pool, normalisedEmail(text)),
  ]);
  return [...(await foundIdentity(pool, person)), ...(await foundAccount(pool, account))];
}

async function findConnection(pool: Pool, id: string): Promise<readonly FoundEntity[]> {
  const row = await selectConnectionById(pool, id);
  return row === undefined ? [] : findWallet(pool, row.app_id, row.user_id);
}

async function findWalletByNumber(pool: Pool, walletId: bigint): Promise<readonly FoundEntity[]> {
  const row = await selectWalletByNumber(pool, walletId);
  return row === undefined ? [] : findWallet(pool, row.app_id, row.user_id);
}

async function findWallet(pool: Pool, appId: AppId, userId: EndUserId | undefined): Promise<readonly FoundEntity[]> {
  if (userId === undefined) return [];
  const [found, owner, payments] = await Promise.all([
    createWallets(pool).find(appId, userId),
    ownerOfWallet(pool, appId, userId),
    listPayments(pool, appId, userId),
  ]);
  if (found === undefined) return [];
  const { isSuspended, isConnected, balance } = found;
  return [
    {
      ...nothing,
      ...walletEntity(appId, userId),
      state: isSuspended ? 'suspended' : isConnected ? 'connected' : 'disconnected',
      amount: balance,
      related: [
        { kind: 'app', id: appId },
        ...(owner === undefined ? [] : [{ kind: 'identity' as const, id: owner }]),
        ...payments.map(({ paymentId }) => ({ kind: 'payment' as const, id: paymentId })),
      ],
    },
  ];
}

async function findEvent(pool: Pool, id: string): Promise<readonly FoundEntity[]> {
  const row = await selectAnyEvent(pool, id);
  if (row === undefined) return [];
  const { type: name, state, created_at: at, app_id: appId, user_id: userId } = row;
  const about = userId === null ? [] : [walletEntity(appId, userId)];
  const related = [...(await appAndOwners(pool, appId)), ...about];
  return [{ ...nothing, kind: 'event', id, name, state, atMs: at.getTime(), related }];
}

/** An act that waits or waited for a second person. Its subject is a wallet, with a payment if it is about one. */
async function findPending(pool: Pool, id: string): Promise<readonly FoundEntity[]> {
  const row = await selectPending(pool, id);
  if (row === undefined) return [];
  const { action: name, subject, state, requested_at: at, requested_by: by, requested_email: email } = row;
  const [app = '', user = '', payment] = subject.split(' ');
  const userId = parseEndUserId(user);
  const related: readonly Entity[] = [
    ...(userId === undefined ? [] : [walletEntity(appIdOf.parse(app), userId)]),
    ...(payment === undefined ? [] : [{ kind: 'payment' as const, id: payment }]),
    { kind: 'account', id: by, name: email },
  ];
  const amount = microsFromRow(row.amount_micros);
  return [{ kind: 'pending', id, name, state, atMs: at.getTime(), amount, related }];
}

/** The app of an entity, and the accounts that own it. */
async function appAndOwners(pool: Pool, appId: AppId): Promise<readonly Entity[]> {
  const owners = (await selectMembers(pool, appId)).filter(({ role }) => role === 'owner');
  return [
    { kind: 'app', id: appId },
    ...owners.map((one) => ({ kind: 'account' as const, id: one.account_id, name: one.email })),
  ];
}
