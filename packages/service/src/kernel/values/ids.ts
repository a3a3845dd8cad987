import { randomUUIDv7 } from 'node:crypto';
import { END_USER_ID } from '@purser/contract/identifiers.ts';
import type { Brand } from '#kernel/values/brand.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { base62Of, randomBase62, toBase62 } from '#kernel/crypto/random.ts';

export type AccountId = Brand<string, 'AccountId'>;
export type AppId = Brand<string, 'AppId'>;
export type KeyId = Brand<string, 'KeyId'>;
export type SessionId = Brand<string, 'SessionId'>;
export type ListenerId = Brand<string, 'ListenerId'>;
export type IdentityId = Brand<string, 'IdentityId'>;
export type ConnectionId = Brand<string, 'ConnectionId'>;
export type CheckoutId = Brand<string, 'CheckoutId'>;
export type PaymentId = Brand<string, 'PaymentId'>;
export type RefundId = Brand<string, 'RefundId'>;
/** The id of a case: something about a payment that waits for a person. */
export type CaseId = Brand<string, 'CaseId'>;

/** The caller-chosen string of `x-service-user`: 1 to 256 visible ASCII characters, compared byte for byte (AU-04). */
export type EndUserId = Brand<string, 'EndUserId'>;

/** One call through the gateway: names its hold, its ledger cause and its receipt. A UUID that begins with the time. */
export type CallId = Brand<string, 'CallId'>;

/** The name of a call in logs and support requests, chosen by the caller or by us. Nothing is looked up by it inside (ER-02). */
export type CorrelationId = Brand<string, 'CorrelationId'>;

/** The mode `live` moves real money, and `sandbox` moves play money. It is fixed when a key is made (AU-07). */
export type Mode = 'live' | 'sandbox';

const PREFIX = {
  account: 'acct_',
  app: 'app_',
  key: 'key_',
  session: 'ses_',
  listener: 'lst_',
  identity: 'idn_',
  connection: 'con_',
  checkout: 'chk_',
  payment: 'pay_',
  refund: 'ref_',
  case: 'cas_',
  invitation: 'inv_',
  listenToken: 'ltk_',
  testToken: 'ttk_',
  draft: 'cdr_',
  reconciliation: 'rec_',
  pendingAct: 'pnd_',
} as const;
const ID_LENGTH = 22; // 131 bits of base62. Ids are not secrets, but nobody can guess or enumerate them.

export const newAccountId = (): AccountId => (PREFIX.account + randomBase62(ID_LENGTH)) as AccountId;
export const newAppId = (): AppId => (PREFIX.app + randomBase62(ID_LENGTH)) as AppId;
export const newKeyId = (): KeyId => (PREFIX.key + randomBase62(ID_LENGTH)) as KeyId;
/** An id that always comes from the same text, for something that must be made once. Nobody finds a text for a given id. */
export const appIdFrom = (text: string): AppId => (PREFIX.app + base62Of(sha256(text), ID_LENGTH)) as AppId;
export const keyIdFrom = (text: string): KeyId => (PREFIX.key + base62Of(sha256(text), ID_LENGTH)) as KeyId;
/** Stands for the key of calls that people make in the console. No key has this id. */
export const CONSOLE_KEY_ID = (PREFIX.key + 'console') as KeyId;
export const newSessionId = (): SessionId => (PREFIX.session + randomBase62(ID_LENGTH)) as SessionId;
export const newListenerId = (): ListenerId => (PREFIX.listener + randomBase62(ID_LENGTH)) as ListenerId;
export const newIdentityId = (): IdentityId => (PREFIX.identity + randomBase62(ID_LENGTH)) as IdentityId;
export const newConnectionId = (): ConnectionId => (PREFIX.connection + randomBase62(ID_LENGTH)) as ConnectionId;
export const newCheckoutId = (): CheckoutId => (PREFIX.checkout + randomBase62(ID_LENGTH)) as CheckoutId;
export const newPaymentId = (): PaymentId => (PREFIX.payment + randomBase62(ID_LENGTH)) as PaymentId;
export const newInvitationId = (): string => PREFIX.invitation + randomBase62(ID_LENGTH);
/** Makes the id of a catalogue that an operator has sent and not applied yet. */
export const newDraftId = (): string => PREFIX.draft + randomBase62(ID_LENGTH);
export const newTestTokenId = (): string => PREFIX.testToken + randomBase62(ID_LENGTH);
export const newListenTokenId = (): string => PREFIX.listenToken + randomBase62(ID_LENGTH);
export const newReconciliationId = (): string => PREFIX.reconciliation + randomBase62(ID_LENGTH);
export const newPendingActId = (): string => PREFIX.pendingAct + randomBase62(ID_LENGTH);
export const newRefundId = (): RefundId => (PREFIX.refund + randomBase62(ID_LENGTH)) as RefundId;
export const newCaseId = (): CaseId => (PREFIX.case + randomBase62(ID_LENGTH)) as CaseId;
/** Begins with the time, as a call id does. */
export const newCorrelationId = (): CorrelationId =>
  `cor_${toBase62(systemClock.nowMs(), 8)}${randomBase62(14)}` as CorrelationId;

/**
 * A version 7 UUID (RFC 9562). It begins with the time, so new rows go to the end of an index instead of dirtying a random
 * page for each call.
 */
export const newCallId = (): CallId => randomUUIDv7() as CallId;

const TIME_DIGITS = 12; // 48 bits of milliseconds, in hexadecimal.

/** The second, since 1970 UTC, in which the call id was made. */
export function secondOf(callId: CallId): number {
  return Math.floor(Number.parseInt(callId.replace('-', '').slice(0, TIME_DIGITS), 16) / 1_000);
}

const CALL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The call that a text names, or undefined when the text is not a call's id. */
export function parseCallId(text: string): CallId | undefined {
  return CALL_ID.test(text) ? (text as CallId) : undefined;
}

/** The kinds of id that come back to us as plain text: in paths, in forms, and from a payment processor. */
interface IdOfKind {
  readonly account: AccountId;
  readonly app: AppId;
  readonly key: KeyId;
  readonly session: SessionId;
  readonly connection: ConnectionId;
  readonly checkout: CheckoutId;
  readonly refund: RefundId;
  readonly case: CaseId;
}

const AFTER_PREFIX = new RegExp(`^[0-9A-Za-z]{${ID_LENGTH}}$`);

/** The id that a text is, or undefined when it is not an id of this kind. Whether anything has this id is not asked. */
export function parseId<Kind extends keyof IdOfKind>(kind: Kind, text: string | undefined): IdOfKind[Kind] | undefined {
  if (text === undefined || !text.startsWith(PREFIX[kind])) return undefined;
  return AFTER_PREFIX.test(text.slice(PREFIX[kind].length)) ? (text as IdOfKind[Kind]) : undefined;
}

/** Reads an end user from a header value. Undefined when it is not well formed (AU-04). */
export function parseEndUserId(value: string): EndUserId | undefined {
  return END_USER_ID.test(value) ? (value as EndUserId) : undefined;
}

const CORRELATION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Reads the caller's own correlation id. Undefined when it is not well formed (ER-02). */
export function parseCorrelationId(value: string): CorrelationId | undefined {
  return CORRELATION_ID.test(value) ? (value as CorrelationId) : undefined;
}
