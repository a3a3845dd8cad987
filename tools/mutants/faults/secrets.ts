import type { Mutant } from '../mutant.ts';
import { changingSecret, keepingKeys, keptKeys, keys, openingKeys, pseudonyms } from './places.ts';

const ORDER = 'OP-13 a database’s keys stay the same while PURSER_SECRET changes';

/** Faults by which a change of `PURSER_SECRET` voids what should stay valid, or leaves valid what it should void. */
export const SECRET_FAULTS: readonly Mutant[] = [
  {
    id: 'former-secret-not-accepted',
    clause: 'BI-04',
    edits: [keys('return secretAlso === undefined ? [current]', 'return current.length > 0 ? [current]')],
    killer: changingSecret('OP-13 BI-04 gateways accept each other’s links during a change'),
  },
  {
    id: 'pseudonym-of-the-current-secret',
    clause: 'CC-13',
    edits: [pseudonyms("keys.kept('provider-user')", "keys.proof('provider-user')[0]")],
    killer: changingSecret('OP-13 CC-13 a provider’s names for users survive a change'),
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
    killer: keepingKeys('OP-13 an older database keeps its derived keys'),
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
    killer: keepingKeys('OP-13 `secret replace` reseals stored secrets without anyone noticing'),
  },
];
