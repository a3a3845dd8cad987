import type { HoldAnswer, HoldRequest, KeyBudget } from '#kernel/calls/hold.ts';
import type { FindRoom } from '#ledger/budgets/find-room.ts';

type Place = (request: HoldRequest) => Promise<HoldAnswer>;

/**
 * How often a call asks other cells for more of its key's budget. Once is enough, unless what was found for this call is taken by others before it is placed again: by a
 * call here, or by a cell that needs a part of it and takes back all.
 */
const ASKS_MAX = 3;

/** Places holds whose keys' budgets hold over all cells (CP-08). A call without a budget is placed as ever. */
export function placeOverCells(place: Place, findRoom: FindRoom): Place {
  return (request) =>
    request.budget === undefined ? place(request) : placeWithin(place, { request, budget: request.budget }, findRoom);
}

interface Budgeted {
  readonly request: HoldRequest;
  readonly budget: KeyBudget;
}

async function placeWithin(place: Place, { request, budget }: Budgeted, findRoom: FindRoom): Promise<HoldAnswer> {
  const { least, most } = request;
  let answer = await place(request);
  for (let asked = 0; asked < ASKS_MAX && isOfBudget(answer); asked += 1) {
    const { isTold, isNothing, reason } = await findRoom({ budget, least, most });
    // Also if nothing was found: an answer of before may have been lost, another call may have found more than it needs, and the hold may be lowered now.
    if (!isTold) answer = await place(request);
    if (isNothing) return reason !== undefined && isRace(answer) ? { kind: 'refused', reason } : answer;
  }
  return answer;
}

const isRace = (answer: HoldAnswer): boolean => answer.kind === 'refused' && answer.reason === 'budget_race_lost';

const isOfBudget = (answer: HoldAnswer): boolean =>
  isRace(answer) || (answer.kind === 'refused' && answer.reason === 'budget_reached');
