import { CellAway } from '#cells/routing/cell-away.ts';
import type { CellClient } from '#cells/routing/cell-client.ts';
import type { CellRequests } from '#cells/routing/cell-request.ts';
import type { CellMap } from '#cells/routing/map.ts';
import { answerCells, askCell, type CellQuestion, type CellRoute } from '#http/cells/questions/question.ts';

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

interface EveryCellOptions {
  readonly map: Pick<CellMap, 'others'>;
  readonly requests: CellRequests;
  readonly client: CellClient;
}

export function createEveryCell({ map, requests, client }: EveryCellOptions): EveryCell {
  const routes: CellRoute[] = [];
  return {
    reader: (question, here) => {
      routes.push(answerCells(requests, question, here));
      return (asked) =>
        Promise.all([here(asked), ...map.others().map((cell) => askCell(client, cell, question, asked))]);
    },
    survey: (question, here) => {
      routes.push(answerCells(requests, question, here));
      return (asked) =>
        Promise.all(
          map.others().map(async (cell) => {
            const answer = await askCell(client, cell, question, asked).catch((fault: unknown) => {
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
