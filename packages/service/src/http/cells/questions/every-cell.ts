import { CellAway } from '#kernel/faults/cell-away.ts';
import type { CellPeers, CellQuestion, CellRoute } from '#http/cells/questions/question.ts';

/** Reads the same thing in every cell. */
export interface EveryCell {
  /**
   * Answers other cells by `here`, and gives a function that asks all cells at once, this one first. It throws `CellAway`: without one
   * answer, the others are too little. Call it at the start only: it makes a route.
   */
  readonly reader: <Asked, Answer>(
    question: CellQuestion<Asked, Answer>,
    here: (asked: Asked) => Promise<Answer>,
  ) => (asked: Asked) => Promise<readonly Answer[]>;
  /**
   * The same for the other cells alone, each with its name. One that does not answer has no answer here, and hides no other. Call it at the start
   * only: it makes a route.
   */
  readonly survey: <Asked, Answer>(
    question: CellQuestion<Asked, Answer>,
    here: (asked: Asked) => Promise<Answer>,
  ) => (asked: Asked) => Promise<readonly { readonly cell: string; readonly answer: Answer | undefined }[]>;
  /** What other cells may ask. */
  readonly routes: readonly CellRoute[];
}

export function createEveryCell({ map, ask, answer: answerOthers }: Omit<CellPeers, 'own'>): EveryCell {
  const routes: CellRoute[] = [];
  return {
    reader: (question, here) => {
      routes.push(answerOthers(question, here));
      return (asked) => Promise.all([here(asked), ...map.others().map((cell) => ask(cell, question, asked))]);
    },
    survey: (question, here) => {
      routes.push(answerOthers(question, here));
      return (asked) =>
        Promise.all(
          map.others().map(async (cell) => {
            const answer = await ask(cell, question, asked).catch((fault: unknown) => {
              if (fault instanceof CellAway) return undefined;
              throw fault;
            });
            return { cell: cell.name, answer };
          }),
        );
    },
    routes,
  };
}
