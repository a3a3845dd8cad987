import { ADDRESS, type ListedConnection, SESSION, SIGN_OUT, WALLETS } from '#http/cells/wallets/people.ts';
import type { CellPeers, CellQuestion } from '#http/cells/questions/question.ts';
import type { Email } from '#people/email.ts';
import type { SignInElsewhere } from '#people/hand-over.ts';
import type { Clock } from '#kernel/time/clock.ts';
import type { SessionId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { OtherCell } from '#kernel/values/slot.ts';

/** Another cell, as people reach its pages. */
export interface CellPages {
  /** The name of the cell. */
  readonly cell: string;
  /** The public URL, without a trailing slash. */
  readonly publicUrl: string;
}

/** What the pages of one cell know of the others. Nothing here rejects: a cell that does not answer in a second is left out. */
export interface OtherCells {
  /** The name of this cell. */
  readonly own: string;
  /** Where the pages of a cell are. Undefined if there is no other cell of this name, or it does not answer. */
  readonly pagesOf: (cell: string) => Promise<CellPages | undefined>;
  /** The pages of all other cells that answer. `isWhole`: all of them do. */
  readonly allPages: () => Promise<{ readonly pages: readonly CellPages[]; readonly isWhole: boolean }>;
  /** What a person has connected in the other cells. `isWhole`: every cell has answered. */
  readonly walletsOf: (email: Email) => Promise<{ readonly wallets: readonly FarWallet[]; readonly isWhole: boolean }>;
  /** Whether a person's sign-in is in force there. False also if the cell does not answer. */
  readonly isInForce: (cell: string, signIn: SignInElsewhere) => Promise<boolean>;
  /** Ends a sign-in in the other cells, or all of them if `sessionId` is undefined. False if not every cell has answered. */
  readonly signOut: (email: Email, sessionId: SessionId | undefined) => Promise<boolean>;
}

interface FarWallet {
  /** The name of the cell. */
  readonly cell: string;
  readonly connection: ListedConnection;
}

/** Addresses change with a restart of all gateways of a cell only. */
const KNOWN_MS = 60_000;
/**
 * A cell that is away is not asked again for its address for this long. Otherwise the sign-in page, which everybody may
 * open, would wait for it each time.
 */
const AWAY_MS = 5_000;

interface OtherCellsOptions extends Omit<CellPeers, 'answer'> {
  readonly clock: Clock;
  readonly log: Log;
}

export function createOtherCells({ own, map, ask: askCell, clock, log }: OtherCellsOptions): OtherCells {
  const known = new Map<string, { readonly pages: Promise<CellPages | undefined>; untilMs: number }>();

  /**
   * Asks another cell. Returns undefined if there is no answer. Neither what was asked nor what was answered is logged.
   */
  async function ask<Asked, Answer>(cell: OtherCell, question: CellQuestion<Asked, Answer>, asked: Asked) {
    try {
      return await askCell(cell, question, asked);
    } catch (fault) {
      log.warn(
        { cell: cell.name, path: question.path, fault: describeFault(fault) },
        'another cell does not answer a question about a person',
      );
      return undefined;
    }
  }

  function pagesAt(cell: OtherCell): Promise<CellPages | undefined> {
    const before = known.get(cell.name);
    if (before !== undefined && clock.nowMs() < before.untilMs) return before.pages;
    const pages = ask(cell, ADDRESS, {}).then((answer) => answer && { cell: cell.name, ...answer });
    const entry = { pages, untilMs: clock.nowMs() + KNOWN_MS };
    known.set(cell.name, entry);
    void pages.then((found) => {
      if (found === undefined) entry.untilMs = clock.nowMs() + AWAY_MS;
    });
    return pages;
  }

  const find = (name: string): OtherCell | undefined => map.others().find((cell) => cell.name === name);
  const ofAll = <Found>(of: (cell: OtherCell) => Promise<Found>) => Promise.all(map.others().map(of));

  async function walletsAt(cell: OtherCell, email: Email): Promise<readonly FarWallet[] | undefined> {
    const wallets = await ask(cell, WALLETS, { email });
    return wallets?.map((connection) => ({ cell: cell.name, connection }));
  }

  return {
    own,
    pagesOf: async (name) => {
      const cell = find(name);
      return cell && pagesAt(cell);
    },
    allPages: async () => {
      const found = await ofAll(pagesAt);
      return { pages: found.filter((pages) => pages !== undefined), isWhole: !found.includes(undefined) };
    },
    walletsOf: async (email) => {
      const found = await ofAll((cell) => walletsAt(cell, email));
      return { wallets: found.flatMap((wallets) => wallets ?? []), isWhole: !found.includes(undefined) };
    },
    isInForce: async (name, signIn) => {
      const cell = find(name);
      return cell !== undefined && (await ask(cell, SESSION, signIn))?.isInForce === true;
    },
    signOut: async (email, sessionId) => {
      const answers = await ofAll((cell) => ask(cell, SIGN_OUT, { email, sessionId }));
      return !answers.includes(undefined);
    },
  };
}
