import type { CellPeers, CellQuestion } from '#http/cells/questions/question.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { OtherCell } from '#kernel/values/slot.ts';

/** What a cell has of a user who was there, and which cells gave their slot to it. */
export interface FormerAnswer<Found> {
  readonly found: Found;
  readonly givers: readonly string[];
}

export interface User {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** Asks the cells in which a user was before. */
export interface FormerCells {
  /** Tells whether the user was in other cells before. False means that the user was always here. */
  readonly hasAny: (user: User) => boolean;
  /** Asks each of them once. Nothing is asked for a user who was always here. Throws `CellAway`: without one answer, the others are too little. */
  readonly ask: <Asked extends User, Found>(
    question: CellQuestion<Asked, FormerAnswer<Found>>,
    asked: Asked,
  ) => Promise<readonly Found[]>;
}

interface Former extends Pick<CellPeers, 'own' | 'ask'> {
  readonly map: Pick<CellPeers['map'], 'giversOf' | 'others'>;
}

/**
 * Every cell in which a user was has given their slot to another one, so one leads to the next. A slot may come back, so this cell
 * remembers whom it has asked. Those that are asked ask nobody.
 */
export function createFormerCells({ own, map, ask }: Former): FormerCells {
  return {
    hasAny: ({ appId, userId }) => map.giversOf(appId, userId).length > 0,
    ask: async (question, asked) => {
      const known = new Set([own]);
      const found = [];
      let next = map.giversOf(asked.appId, asked.userId);
      while (next.length > 0) {
        const names = [...new Set(next)].filter((name) => !known.has(name));
        for (const name of names) known.add(name);
        const answers = await Promise.all(names.map((name) => ask(named(map.others(), name), question, asked)));
        found.push(...answers.map((answer) => answer.found));
        next = answers.flatMap(({ givers }) => givers);
      }
      return found;
    },
  };
}

function named(cells: readonly OtherCell[], name: string): OtherCell {
  const cell = cells.find((one) => one.name === name);
  if (cell === undefined) throw new Error(`There is no cell ${name} any more, and users were there.`);
  return cell;
}
