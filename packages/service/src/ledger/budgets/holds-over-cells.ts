import type { HoldAnswer, HoldRequest, KeyBudget } from '#kernel/hold.ts';
import type { FindRoom } from '#ledger/budgets/find-room.ts';

type Place = (request: HoldRequest) => Promise<HoldAnswer>;

/**
 * How often a call asks other cells for more of its key's budget. Once is enough, but for calls of the same key that come in between and take what was lent for this
 * one: each of them has its hold then.
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
    const { isTold, isLast, reason } = await findRoom({ budget, least, most });
    // Also if nothing was lent: an earlier message may have been lost, and the hold may be lowered from now on.
    if (!isTold) answer = await place(request);
    if (isLast) return reason !== undefined && isRace(answer) ? { kind: 'refused', reason } : answer;
  }
  return answer;
}

const isRace = (answer: HoldAnswer): boolean => answer.kind === 'refused' && answer.reason === 'budget_race_lost';

const isOfBudget = (answer: HoldAnswer): boolean =>
  isRace(answer) || (answer.kind === 'refused' && answer.reason === 'budget_reached');
