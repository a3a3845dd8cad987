import type { Mutant } from '../mutant.ts';
import { inFile, ofFile } from './places.ts';

const handOver = inFile('packages/service/src/people/hand-over.ts');
const queries = inFile('packages/service/src/people/session-queries.ts');
const returnPath = inFile('packages/service/src/web/wallet-owner/return-path.ts');
const pages = inFile('packages/service/src/web/sign-in/hand-over.ts');
const signOut = inFile('packages/service/src/web/sign-in/email-code.ts');
const walletList = inFile('packages/service/src/web/wallet/wallet-list.ts');
const otherCells = inFile('packages/service/src/http/cells/wallets/other-cells.ts');
const inPeople = ofFile('tests/proofs/cells/cell-people.test.ts');

const TOKEN = 'CE-07 ON-01 a token signs in once, in its browser';
const LIST = 'CE-07 ON-04 wallets of all cells open with one sign-in';
const OUT = 'CE-07 ON-01 signing out ends a sign-in in all cells';
const OTHER = 'CE-07 a person with another e-mail gets the chosen wallet';
const AWAY = 'CE-07 ON-04 the page says which cell is away';

/** Faults by which a sign-in of one cell gets to a wrong browser in another, lasts too long, or shows less than it says. */
export const HAND_OVER_FAULTS: readonly Mutant[] = [
  {
    id: 'hand-over-to-any-browser',
    clause: 'ON-01',
    edits: [handOver("if (!isFirst || !equalBytes(sha256(secret), Buffer.from(state, 'base64url')))", 'if (!isFirst)')],
    killer: inPeople(TOKEN),
  },
  {
    id: 'hand-over-again',
    clause: 'ON-01',
    edits: [handOver('if (!isFirst || !equalBytes(', 'if (!equalBytes(')],
    killer: inPeople(TOKEN),
  },
  {
    id: 'hand-over-for-ever',
    clause: 'ON-01',
    edits: [handOver(' || Math.abs(clock.nowMs() - said.atMs) > LIFETIME_MS', '')],
    killer: inPeople(TOKEN),
  },
  {
    id: 'hand-over-to-any-cell',
    clause: 'ON-01',
    edits: [handOver(' || said.to !== own', '')],
    killer: inPeople(TOKEN),
  },
  {
    id: 'hand-over-of-an-ended-sign-in',
    clause: 'ON-01',
    edits: [
      handOver(
        'if (await isInForce(from, signIn)) return',
        'if (await isInForce(from, signIn).then(() => true)) return',
      ),
    ],
    killer: inPeople('CE-07 ON-01 an ended sign-in is not handed over'),
  },
  {
    id: 'hand-over-is-a-fresh-proof',
    clause: 'CP-12',
    edits: [
      queries(
        'least(to_timestamp($5::float8 / 1000), clock_timestamp()) as at',
        "clock_timestamp() + 0 * $5::float8 * interval '1 s' as at",
      ),
    ],
    killer: inPeople('CE-07 CP-12 a hand-over is no fresh proof'),
  },
  {
    id: 'return-path-to-any-host',
    clause: 'ON-01',
    edits: [returnPath('  return isOurs ? path : WALLET;', '  return path ?? WALLET;')],
    killer: inPeople('CE-07 ON-01 nobody is led outside the cells'),
  },
  {
    id: 'hand-over-goes-round-and-round',
    clause: 'ON-01',
    edits: [returnPath(', FROM_CELL, HAND_OVER, ARRIVE]', ']')],
    killer: inPeople('CE-07 ON-01 nobody is led outside the cells'),
  },
  {
    id: 'other-e-mail-hides-the-wallet',
    clause: 'ON-04',
    edits: [pages('signedIn !== undefined && (await isFor(services, signedIn, next))', 'signedIn !== undefined')],
    killer: inPeople(OTHER),
  },
  {
    id: 'data-of-another-e-mail',
    clause: 'CP-12',
    edits: [pages('if (next === DATA) return false;', '')],
    killer: inPeople(OTHER),
  },
  {
    id: 'sign-out-in-one-cell',
    clause: 'ON-01',
    edits: [signOut('await otherCells?.signOut(identity.email, isAll ? undefined : sessionId)', 'otherCells && true')],
    killer: inPeople(OUT),
  },
  {
    id: 'sign-out-is-everywhere',
    clause: 'ON-01',
    edits: [signOut('isAll ? undefined : sessionId', 'undefined')],
    killer: inPeople(OUT),
  },
  {
    id: 'sign-out-once',
    clause: 'ON-01',
    edits: [signOut('return (await end()) === true && isDone;', 'return isDone;')],
    killer: inPeople('CE-07 ON-01 a hand-over during a sign-out leaves no sign-in'),
  },
  {
    id: 'silently-fewer-wallets',
    clause: 'ON-04',
    edits: [walletList('isWhole: there.isWhole', 'isWhole: true')],
    killer: inPeople(AWAY),
  },
  {
    id: 'silently-signed-in-elsewhere',
    clause: 'ON-04',
    edits: [otherCells('return !answers.includes(undefined);', 'return answers.length > 0;')],
    killer: inPeople(AWAY),
  },
  {
    id: 'wallets-of-one-cell',
    clause: 'ON-04',
    edits: [walletList('[...far, ...near]', 'near')],
    killer: inPeople(LIST),
  },
];
