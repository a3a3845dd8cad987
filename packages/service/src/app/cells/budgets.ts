import type { Ground } from '#app/process/ground.ts';
import { isItemFault } from '#db/pool/pool.ts';
import { GIVE_BACK, LEND } from '#http/cells/money/budgets.ts';
import type { CellPeers, CellRoute } from '#http/cells/questions/question.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { describeFault } from '#kernel/log.ts';
import { createBudgetHome } from '#ledger/budgets/budget-home.ts';
import { createFindRoom, type FindRoom, NOT_NOW } from '#ledger/budgets/find-room.ts';
import { giveBackAllowance } from '#ledger/budgets/queries.ts';

/** The budgets of API keys over all cells: how this one asks for more of one, and what others may ask of it. */
interface CellBudgets {
  readonly findRoom: FindRoom;
  readonly routes: readonly CellRoute[];
}

export function openCellBudgets({ pools, log }: Ground, { map, ask, answer }: CellPeers): CellBudgets {
  const db = pools.reads;
  const home = createBudgetHome({
    db,
    askBack: (name, asked) => {
      const cell = map.others().find((other) => other.name === name);
      return cell === undefined
        ? Promise.reject(new Error(`There is no other cell ${name}.`))
        : ask(cell, GIVE_BACK, asked);
    },
    clock: steadyClock,
  });
  const findRoom = createFindRoom({
    db,
    home,
    askHome: () => {
      const cell = map.budgetHome();
      return cell && ((asked) => ask(cell, LEND, asked));
    },
    clock: steadyClock,
    log,
  });

  /** A question that the database refuses says nothing of other keys: without an answer, its cell would take this one for away. */
  function notNow(fault: unknown): typeof NOT_NOW {
    if (!isItemFault(fault)) throw fault;
    log.error({ fault: describeFault(fault) }, 'the database refuses to lend of the budget of an API key');
    return NOT_NOW;
  }

  return {
    findRoom,
    routes: [
      // Two cells that take each other for the home would both lend the whole budget.
      answer(LEND, (asked, from) =>
        map.budgetHome() === undefined ? home.lend(asked, from).catch(notNow) : Promise.resolve(undefined),
      ),
      answer(GIVE_BACK, (asked, from) =>
        map.budgetHome()?.name === from ? giveBackAllowance(db, asked) : Promise.resolve(undefined),
      ),
    ],
  };
}
