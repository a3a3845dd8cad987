import { sha256 } from '#kernel/crypto/crypto.ts';
import type { EmailSeal } from '#kernel/values/email-seal.ts';
import type { AccountId, AppId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';

/** A state before or after an act: the fields that matter, in JSON. Never a secret, a prompt or a whole address with a query. */
export type Facts = Readonly<Record<string, unknown>>;

/** Who acts, and from where. */
export interface Actor {
  /**
   * An account; a key that resets test users; an identity that claims a wallet; `command-line`; `settings` for the operator that the settings name; or
   * `processor` for the outcome of a payment.
   */
  readonly actor: string;
  /** The e-mail of an account at this time. */
  readonly actorName?: string | undefined;
  /** The network address of the caller. It is forgotten after 90 days. */
  readonly from?: string | undefined;
}

/** One act. */
export interface AuditEntry extends Actor {
  /** What was done, such as `app.suspend`. */
  readonly action: string;
  /** What it was done to: an id, or an app and a user. Never an amount, a secret or a prompt. */
  readonly subject: string;
  readonly reason: string | undefined;
  /** The owner who acted. Undefined for acts of operators, which owners do not read. */
  readonly accountId?: AccountId | undefined;
  readonly appId?: AppId | undefined;
  readonly amount?: Micros | undefined;
  readonly before?: Facts | undefined;
  readonly after?: Facts | undefined;
}

/** The signed-in owner of an account, as the trail names them. */
export interface Owner {
  readonly accountId: AccountId;
  readonly email: string;
  readonly from: string;
}

/** What an owner did. */
type OwnersAct = Pick<AuditEntry, 'action' | 'subject' | 'appId' | 'before' | 'after'>;

/** The entry of an owner's act. */
export function ownersEntry({ accountId, email, from }: Owner, act: OwnersAct): AuditEntry {
  return { actor: accountId, actorName: email, from, accountId, reason: undefined, ...act };
}

/** A test token that acts on its app. Its acts are among those of the account that made it. */
export interface ActingToken {
  readonly tokenId: string;
  readonly accountId: AccountId;
  readonly from: string;
}

/** The entry of an act by a test token. */
export function tokensEntry({ tokenId, accountId, from }: ActingToken, act: OwnersAct): AuditEntry {
  return { actor: tokenId, from, accountId, reason: undefined, ...act };
}

const FACTS_BYTES_MAX = 16_384;

/**
 * Facts as a table keeps them, with their addresses sealed. Larger ones, such as a whole catalogue, are named by their digest.
 */
export function storedFacts(facts: Facts | undefined, { conceal }: Pick<EmailSeal, 'conceal'>): string | null {
  if (facts === undefined) return null;
  const text = JSON.stringify(facts, (name, value: unknown) =>
    typeof value === 'string' ? conceal(value) : asJson(name, value),
  );
  const bytes = Buffer.byteLength(text);
  if (bytes <= FACTS_BYTES_MAX) return text;
  return JSON.stringify({ omitted: true, bytes, sha256: sha256(text).toString('hex') });
}

/** Opens the addresses of facts that were stored. */
export function openFacts(facts: Facts | null, open: EmailSeal['open']): Facts | null {
  if (facts === null) return null;
  return JSON.parse(JSON.stringify(facts), (_name, value: unknown) =>
    typeof value === 'string' ? open(value) : value,
  ) as Facts;
}

/** Amounts are `bigint` here and numbers in JSON. */
function asJson(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** The fields whose values differ, before and after. */
export function changedFacts(before: Facts, after: Facts): { readonly before: Facts; readonly after: Facts } {
  const names = Object.keys({ ...before, ...after }).filter(
    (name) => JSON.stringify(before[name], asJson) !== JSON.stringify(after[name], asJson),
  );
  const only = (facts: Facts): Facts => Object.fromEntries(names.map((name) => [name, facts[name] ?? null]));
  return { before: only(before), after: only(after) };
}
