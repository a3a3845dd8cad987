import {
  accountId as accountIdOf,
  appId as appIdOf,
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
import { findByProcessorId, findPayment } from '#operator/look-up/find-payments.ts';
import { type Entity, type FoundEntity, walletEntity } from '#operator/look-up/entities.ts';
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
  return async (typed) => {
    const text = typed.trim();
    const [, app = '', user = ''] = WALLET.exec(text) ?? [];
    if (app !== '') return known([await findWallet(pool, appIdOf.parse(app), parseEndUserId(user))]);
    if (text.includes('@')) return findPerson(pool, text);
    const callId = parseCallId(text.toLowerCase());
    if (callId !== undefined) {
      const calls = (await findCalls({ callId })).map(foundCall);
      return calls.length > 0 ? calls : known([await findRunningCall(pool, callId)]);
    }
    const find = Object.entries(BY_PREFIX).find(([prefix]) => text.startsWith(prefix))?.[1] ?? findPayment;
    const found = await find(pool, text);
    if (found !== undefined || parseCorrelationId(text) === undefined) return known([found]);
    // A caller may choose a correlation id that looks like any other id.
    const [calls, ...others] = await Promise.all([
      findCalls({ correlationId: text }),
      findByProcessorId(pool, text),
      NUMBER.test(text) ? findWalletByNumber(pool, BigInt(text)) : undefined,
    ]);
    return [...known(others), ...calls.map(foundCall)];
  };
}

type Finder = (pool: Pool, id: string) => Promise<FoundEntity | undefined>;

/** What finds an entity by its id, by the prefix of the id. */
const BY_PREFIX: Readonly<Record<string, Finder>> = {
  app_: (pool, id) => findApp(pool, appIdOf.parse(id)),
  key_: findKey,
  acct_: async (pool, id) => foundAccount(pool, await selectAccountById(pool, accountIdOf.parse(id))),
  idn_: async (pool, id) => foundIdentity(pool, await selectIdentity(pool, identityIdOf.parse(id))),
  con_: async (pool, id) => findWalletOf(pool, await selectConnectionById(pool, id)),
  evt_: findEvent,
  pnd_: findPending,
};

function known(found: readonly (FoundEntity | undefined)[]): readonly FoundEntity[] {
  return found.filter((one) => one !== undefined);
}

function foundCall({ appId, userId, callId, correlationId, ...call }: FoundCall): FoundEntity {
  // Play money is in no wallet of the ledger.
  const wallet = userId === undefined || call.mode === 'sandbox' ? [] : [walletEntity(appId, userId)];
  const related: readonly Entity[] = [{ kind: 'app', id: appId }, ...wallet];
  const { model: name, outcome: state, charged: amount, atMs } = call;
  return { kind: 'call', id: callId ?? correlationId ?? '', name, state, atMs, amount, related };
}

/** A call that runs has neither a receipt nor a trace, only its hold. */
async function findRunningCall(pool: Pool, callId: CallId): Promise<FoundEntity | undefined> {
  const hold = await selectHoldOfCall(pool, callId);
  if (hold === undefined) return undefined;
  const related: readonly Entity[] = [{ kind: 'app', id: hold.app_id }, walletEntity(hold.app_id, hold.user_id)];
  return { kind: 'call', id: callId, state: 'running', atMs: hold.placed_at.getTime(), related };
}

async function findApp(pool: Pool, id: AppId): Promise<FoundEntity | undefined> {
  const row = await selectAppDetails(pool, id);
  if (row === undefined) return undefined;
  const related = (await selectMembers(pool, id)).map(accountEntity);
  return { kind: 'app', id, name: row.name, state: row.status, atMs: row.created_at.getTime(), related };
}

async function findKey(pool: Pool, id: string): Promise<FoundEntity | undefined> {
  const row = await selectAppOfKey(pool, id);
  if (row === undefined) return undefined;
  const state = `${row.mode}, ${row.is_revoked ? 'revoked' : 'not revoked'}`;
  return { kind: 'key', id, name: row.name ?? undefined, state, related: await appAndOwners(pool, row.app_id) };
}

async function foundAccount(pool: Pool, row: AccountRow | undefined): Promise<FoundEntity | undefined> {
  if (row === undefined) return undefined;
  const apps = await selectMemberships(pool, row.account_id);
  return {
    kind: 'account',
    id: row.account_id,
    name: row.email,
    state: row.is_disabled ? 'disabled' : (row.operator_role ?? row.role),
    atMs: row.created_at.getTime(),
    related: apps.map((app) => ({ kind: 'app', id: app.app_id, name: app.name })),
  };
}

async function foundIdentity(
  pool: Pool,
  row: Awaited<ReturnType<typeof selectIdentity>>,
): Promise<FoundEntity | undefined> {
  if (row === undefined) return undefined;
  const owned = await selectConnectionsOf(pool, row.identity_id, RELATED_MAX);
  const related = owned.map((one) => walletEntity(one.app_id, one.user_id));
  return { kind: 'identity', id: row.identity_id, name: row.email, related };
}

/** The owner of wallets and the account with exactly this mail address. */
async function findPerson(pool: Pool, text: string): Promise<readonly FoundEntity[]> {
  const email = emailOf(text);
  const [person, account] = await Promise.all([
    email && selectIdentityByEmail(pool, email),
    selectAccountByEmail(pool, normalisedEmail(text)),
  ]);
  return known([await foundIdentity(pool, person), await foundAccount(pool, account)]);
}

async function findWalletByNumber(pool: Pool, walletId: bigint): Promise<FoundEntity | undefined> {
  return findWalletOf(pool, await selectWalletByNumber(pool, walletId));
}

async function findWalletOf(
  pool: Pool,
  row: { readonly app_id: AppId; readonly user_id: EndUserId } | undefined,
): Promise<FoundEntity | undefined> {
  return row && findWallet(pool, row.app_id, row.user_id);
}

async function findWallet(pool: Pool, appId: AppId, userId: EndUserId | undefined): Promise<FoundEntity | undefined> {
  if (userId === undefined) return undefined;
  const [found, owner, payments] = await Promise.all([
    createWallets(pool).find(appId, userId),
    ownerOfWallet(pool, appId, userId),
    listPayments(pool, appId, userId),
  ]);
  if (found === undefined) return undefined;
  const { isSuspended, isConnected, balance } = found;
  return {
    ...walletEntity(appId, userId),
    state: isSuspended ? 'suspended' : isConnected ? 'connected' : 'disconnected',
    amount: balance,
    related: [
      { kind: 'app', id: appId },
      ...(owner === undefined ? [] : [{ kind: 'identity' as const, id: owner }]),
      ...payments.map(({ paymentId }) => ({ kind: 'payment' as const, id: paymentId })),
    ],
  };
}

async function findEvent(pool: Pool, id: string): Promise<FoundEntity | undefined> {
  const row = await selectAnyEvent(pool, id);
  if (row === undefined) return undefined;
  const { type: name, state, created_at: at, app_id: appId, user_id: userId } = row;
  const about = userId === null ? [] : [walletEntity(appId, userId)];
  const related = [...(await appAndOwners(pool, appId)), ...about];
  return { kind: 'event', id, name, state, atMs: at.getTime(), related };
}

/** An act that waits or waited for a second person. Its subject is a wallet, with a payment if it is about one. */
async function findPending(pool: Pool, id: string): Promise<FoundEntity | undefined> {
  const row = await selectPending(pool, id);
  if (row === undefined) return undefined;
  const { action: name, subject, state, requested_at: at, requested_by: by, requested_email: email } = row;
  const [app = '', user = '', payment] = subject.split(' ');
  const userId = parseEndUserId(user);
  const related: readonly Entity[] = [
    ...(userId === undefined ? [] : [walletEntity(appIdOf.parse(app), userId)]),
    ...(payment === undefined ? [] : [{ kind: 'payment' as const, id: payment }]),
    { kind: 'account', id: by, name: email },
  ];
  return { kind: 'pending', id, name, state, atMs: at.getTime(), amount: microsFromRow(row.amount_micros), related };
}

/** The app of an entity, and the accounts that own it. */
async function appAndOwners(pool: Pool, appId: AppId): Promise<readonly Entity[]> {
  const owners = (await selectMembers(pool, appId)).filter(({ role }) => role === 'owner');
  return [{ kind: 'app', id: appId }, ...owners.map(accountEntity)];
}

function accountEntity(row: { readonly account_id: string; readonly email: string }): Entity {
  return { kind: 'account', id: row.account_id, name: row.email };
}
