import type { Facts } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import type { IdentityId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type Act, audited } from '#operator/acts/act.ts';
import { type Agreed, deletePerson, type Holdings, holdingsOf, type Obstacle } from '#privacy/deletion.ts';
import { readPerson } from '#privacy/export.ts';

type Pieces = AsyncGenerator<string>;

/** Export and deletion of people who own wallets (CP-12), by themselves and by operators for them. Each is in the audit trail. */
export interface Privacy {
  /** Everything that is kept about a person, as pieces of one JSON text. Undefined if there is no such person. */
  readonly exportOwn: (identityId: IdentityId) => Promise<Pieces | undefined>;
  readonly exportFor: (act: Act, identityId: IdentityId) => Promise<Pieces | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
  /** What a deletion would take away, and what stands in its way. */
  readonly holdings: (identityId: IdentityId) => Promise<Holdings | undefined>;
  /** Deletes the person, unless the answer has obstacles: then nothing was changed. Undefined if there is no such person. */
  readonly deleteOwn: (identityId: IdentityId, agreed?: Agreed) => Promise<Holdings | undefined>;
  readonly deleteFor: (
    act: Act,
    identityId: IdentityId,
    agreed?: Agreed,
  ) => Promise<Holdings | Refusal<'NOT_FOUND' | 'CONFLICT'>>;
}

/** Rolls a deletion back, with what was found. */
class InTheWay extends Error {
  readonly holdings: Holdings;

  constructor(holdings: Holdings) {
    super('A person cannot be deleted yet.');
    this.holdings = holdings;
  }
}

export function createPrivacy(pool: Pool): Privacy {
  return {
    exportOwn: async (identityId) => {
      const pieces = await readPerson(pool, identityId);
      if (pieces !== undefined) await insertAuditEntry(pool, ownAct(identityId, 'identity.export'));
      return pieces;
    },
    exportFor: async (act, identityId) => {
      const pieces = await readPerson(pool, identityId);
      if (pieces === undefined) return unknownPerson();
      const named = { ...act, action: 'identity.export', subject: identityId };
      return audited(pool, named, () => Promise.resolve(pieces));
    },
    holdings: (identityId) => holdingsOf(pool, identityId),
    deleteOwn: async (identityId, agreed = nothingAgreed) => {
      try {
        return await inTransaction(pool, async (tx) => {
          const done = await deleteUnhindered(tx, identityId, agreed);
          if (done !== undefined) {
            await insertAuditEntry(tx, { ...ownAct(identityId, 'identity.delete'), after: givenUpIn(done) });
          }
          return done;
        });
      } catch (fault) {
        if (fault instanceof InTheWay) return fault.holdings;
        throw fault;
      }
    },
    deleteFor: async (act, identityId, agreed = nothingAgreed) => {
      const named = { ...act, action: 'identity.delete', subject: identityId };
      try {
        return await audited(pool, named, async (tx, note): Promise<Holdings | Refusal<'NOT_FOUND'>> => {
          const done = await deleteUnhindered(tx, identityId, agreed);
          if (done === undefined) return unknownPerson();
          note({ before: { wallets: done.wallets.length }, after: { wallets: 0, ...givenUpIn(done) } });
          return done;
        });
      } catch (fault) {
        if (fault instanceof InTheWay) return notYet(fault.holdings.obstacles);
        throw fault;
      }
    },
  };
}

function nothingAgreed(): undefined {
  return undefined;
}

/** What was given up, for the trail. */
function givenUpIn({ rests }: Holdings): Facts {
  if (rests.length === 0) return {};
  return { givenUp: rests.map(({ appId, userId, balance }) => ({ appId, userId, amountMicros: balance })) };
}

async function deleteUnhindered(tx: Queryable, identityId: IdentityId, agreed: Agreed): Promise<Holdings | undefined> {
  const done = await deletePerson(tx, identityId, agreed);
  if (done !== undefined && done.obstacles.length > 0) throw new InTheWay(done);
  return done;
}

/** A line of what a person did themself. Without a network address, which would be about a person who has just been deleted. */
function ownAct(identityId: IdentityId, action: 'identity.export' | 'identity.delete') {
  return { actor: identityId, action, subject: identityId, reason: undefined };
}

function unknownPerson(): Refusal<'NOT_FOUND'> {
  return refuse('NOT_FOUND', 'There is no such identity.');
}

/** What an operator does first. */
const FIRST: Readonly<Record<Obstacle['kind'], string>> = {
  money: 'has money: refund it first',
  held: 'pays for running calls: wait until they have ended',
  debt: 'has a shortfall: recover it or write it off first',
  checkout: 'has a checkout that may still be paid: wait three days at most',
  gift: 'A checkout of theirs for another wallet may still be paid: wait three days at most',
  refund: 'has a refund that the payment processor has not confirmed',
  dispute: 'has a dispute in which a bank may still give money back: wait 90 days at most',
  case: 'has an open case of a payment: solve it first',
  waiting: 'has an act of an operator that waits for a second person: confirm or reject it first',
  rest: 'has less than can be paid back: agree with the person that they give it up, and name the amount in `givesUp`',
};
const NAMED_MAX = 5;

function notYet(obstacles: readonly Obstacle[]): Refusal<'CONFLICT'> {
  const sentences = obstacles
    .slice(0, NAMED_MAX)
    .map(({ kind, wallet }) =>
      wallet === undefined
        ? `${FIRST[kind]}.`
        : `The wallet of \`${wallet.userId}\` for \`${wallet.appId}\` ${FIRST[kind]}.`,
    );
  return refuse('CONFLICT', `This person cannot be deleted yet. ${sentences.join(' ')}`);
}
