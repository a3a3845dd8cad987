import type { Mutant } from '../mutant.ts';
import { accountTables, auditEntry, trail, emailSeal, payingBack, sealingAddresses, sealingTexts } from './places.ts';

const DUMP = 'CP-12 no table holds a plain e-mail address';

/** Faults by which an address is stored in plain, or is not found again. */
export const ADDRESS_FAULTS: readonly Mutant[] = [
  {
    id: 'address-sealed-at-random',
    clause: 'CP-12',
    edits: [emailSeal('repeatable(address.toLowerCase())', 'sealed(address.toLowerCase())')],
    killer: sealingTexts('CP-12 sealing an address is deterministic and ignores case'),
  },
  {
    id: 'actor-named-in-plain',
    clause: 'CP-12',
    edits: [trail('emails.seal(entry.actorName)', 'entry.actorName')],
    killer: payingBack(DUMP),
  },
  {
    id: 'fact-in-plain',
    clause: 'CP-12',
    edits: [
      auditEntry("typeof value === 'string' ? conceal(value)", "typeof value === 'symbol' ? conceal(String(value))"),
    ],
    killer: payingBack(DUMP),
  },
  {
    id: 'plain-address-of-an-account',
    clause: 'CP-12',
    edits: [
      accountTables(
        `accounts_email_sealed check (email ~ '^e1[.][A-Za-z0-9_-]+$')`,
        'accounts_email_sealed check (true)',
      ),
    ],
    killer: sealingAddresses('CP-12 a table keeping addresses refuses a plain one'),
  },
];
