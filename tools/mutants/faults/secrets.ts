import type { Mutant } from '../mutant.ts';
import { changingSecret, keepingKeys, keptKeys, keys, openingKeys, pseudonyms } from './places.ts';

const ORDER = 'OP-13 the keys of a database stay the same while PURSER_SECRET changes, in any order of starts';

/** Faults by which a change of `PURSER_SECRET` voids what should stay valid, or leaves valid what it should void. */
export const SECRET_FAULTS: readonly Mutant[] = [
  {
    id: 'former-secret-not-accepted',
    clause: 'BI-04',
    edits: [keys('return secretAlso === undefined ? [current]', 'return current.length > 0 ? [current]')],
    killer: changingSecret(
      'OP-13 BI-04 during a change, each gateway accepts the links and forms of the other, and afterwards the old ones are void',
    ),
  },
  {
    id: 'pseudonym-of-the-current-secret',
    clause: 'CC-13',
    edits: [pseudonyms("keys.kept('provider-user')", "keys.proof('provider-user')[0]")],
    killer: changingSecret('OP-13 CC-13 a provider knows a user by the same names after a change'),
  },
  {
    id: 'keys-not-sealed-under-the-new-secret',
    clause: 'OP-13',
    edits: [keptKeys('  await insertMissing(tx, openers, rows, found);\n', '')],
    killer: keepingKeys(ORDER),
  },
  {
    id: 'former-secret-opens-for-ever',
    clause: 'OP-13',
    edits: [keptKeys('endsChange && (await deleteOther', 'false && (await deleteOther')],
    killer: keepingKeys(ORDER),
  },
  {
    id: 'new-key-for-an-old-database',
    clause: 'OP-13',
    edits: [keptKeys('Object.entries(derivedKeptKeys(opener.secret))', '[]')],
    killer: keepingKeys('OP-13 a database from before keys were kept keeps the ones that were derived from its secret'),
  },
  {
    id: 'authenticators-not-sealed-again',
    clause: 'CP-06',
    edits: [
      openingKeys(
        "  await resealAuthenticators(tx, before['account-authenticator'], after['account-authenticator']);\n",
        '',
      ),
    ],
    killer: keepingKeys(
      'OP-13 `secret replace` seals webhook secrets and authenticator secrets again, and apps and people notice nothing',
    ),
  },
];
