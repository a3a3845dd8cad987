// A ledger of two cells, whose wallets move between them.
import assert from 'node:assert/strict';
import { CellFault } from '../../../packages/service/src/cells/topology/cells.ts';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import type { CallId, EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { moveSlot, type MoveStep, takeBack } from '../../../packages/service/src/cells/moving/move-slot.ts';
import type { HoldRequest } from '../../../packages/service/src/kernel/calls/hold.ts';
import type { Settlement } from '../../../packages/service/src/ledger/settlement/settlement.ts';
import { APP, openLedgerDatabase, type SettleAnswer, type WAYS } from '../../support/ledger-database.ts';
import { type ChangeOfCell, type LedgerUnderTest, underTest } from '../histories/ledger-under-test.ts';
import type { startMovingStage } from './moving-stage.ts';

type Stage = Awaited<ReturnType<typeof startMovingStage>>;
export type Name = 'c1' | 'c2';

/** Where the slots of users are, and how often something became of a change of cell. */
export interface Changes {
  /** Those that are not here are in `c1`. */
  readonly bySlot: Map<number, Name>;
  moved: number;
  stayed: number;
  killed: number;
  givenUp: number;
}

class Killed extends Error {}

type Cells = Readonly<Record<Name, LedgerUnderTest>>;
const NAMES = ['c1', 'c2'] as const;

/** Where wallets, calls and processes are. */
class Places {
  readonly bySlot: Changes['bySlot'];
  readonly #byCall = new Map<CallId, Name>();
  readonly #instances = new Map<bigint, Readonly<Record<Name, bigint>>>();

  constructor({ bySlot }: Changes) {
    this.bySlot = bySlot;
  }

  nameOf(user: string): Name {
    return this.bySlot.get(slotOf(APP, user as EndUserId)) ?? 'c1';
  }

  ofCall({ callId }: { readonly callId: CallId }): Name {
    return this.#byCall.get(callId) ?? 'c1';
  }

  /** A call that was refused has left nothing behind, so it may be asked for again in another cell. */
  ofRequest({ callId, userId }: HoldRequest): Name {
    return this.#byCall.get(callId) ?? this.nameOf(userId);
  }

  took({ callId }: HoldRequest, name: Name): void {
    this.#byCall.set(callId, name);
  }

  /** A process has an id in each database. */
  addInstance(both: Readonly<Record<Name, bigint>>): bigint {
    const instance = BigInt(this.#instances.size + 1);
    this.#instances.set(instance, both);
    return instance;
  }

  instanceAt(instance: bigint, name: Name): bigint {
    return this.#instances.get(instance)?.[name] ?? 0n;
  }
}

/**
 * Each wallet is used in the cell in which it is, and each call in the one that has taken it. `changes` is counted on. The databases stay open.
 */
export async function openLedgerCells(
  stage: Stage,
  way: keyof typeof WAYS,
  changes: Changes,
): Promise<LedgerUnderTest & { readonly close: () => Promise<void> }> {
  const databases = {
    c1: await openLedgerDatabase({ ...stage.one, close: () => Promise.resolve() }, way),
    c2: await openLedgerDatabase({ ...stage.two, close: () => Promise.resolve() }, way),
  };
  const cells: Cells = { c1: underTest(databases.c1), c2: underTest(databases.c2) };
  const places = new Places(changes);
  const at = (user: string): LedgerUnderTest => cells[places.nameOf(user)];
  const turn = turnOver(cells, places);
  let hasChanged = false; // Both books hold all histories so far, so they are checked only when a wallet may have moved.
  return {
    turn,
    reserve: async (requests, instance) => (await turn([], requests, instance)).placed,
    settle: async (settlements) => (await turn(settlements, [])).settled,
    drain: async (calls) => {
      for (const one of calls) await cells[places.ofCall(one)].drain([one]);
    },
    addInstance: async () => places.addInstance({ c1: await cells.c1.addInstance(), c2: await cells.c2.addInstance() }),
    fence: async (instance) => {
      let released = 0;
      for (const name of NAMES) released += await cells[name].fence(places.instanceAt(instance, name));
      return released;
    },
    open: (user, ...wallet) => at(user).open(user, ...wallet),
    wallet: (user) => at(user).wallet(user),
    budgets: () => Promise.resolve(new Map()),
    credit: (user, ...act) => at(user).credit(user, ...act),
    takeBack: (user, ...act) => at(user).takeBack(user, ...act),
    reinstate: (user, writesOff) => at(user).reinstate(user, writesOff),
    setCap: (user, cap) => at(user).setCap(user, cap),
    setConnected: (user, isConnected) => at(user).setConnected(user, isConnected),
    spent: (user) => at(user).spent(user),
    beginMonth: async (user, month) => {
      for (const name of NAMES) await cells[name].beginMonth(user, month);
    },
    differences: async () => {
      if (!hasChanged) return [];
      hasChanged = false;
      return [...(await cells.c1.differences()), ...(await cells.c2.differences())];
    },
    changeCell: async (user, how) => {
      hasChanged = true;
      const slot = slotOf(APP, user as EndUserId);
      const to = places.nameOf(user) === 'c1' ? 'c2' : 'c1';
      const outcome = await changeCell(stage, { slot, to }, how, changes);
      if (outcome === 'moved') places.bySlot.set(slot, to);
      changes[outcome === 'moved' ? 'moved' : 'stayed'] += 1;
      return outcome;
    },
    close: async () => {
      for (const name of NAMES) await databases[name].live.end();
    },
  };
}

/** A turn of each cell that has something to do. */
function turnOver(cells: Cells, places: Places): LedgerUnderTest['turn'] {
  return async (settlements, requests, instance) => {
    const settled = new Map<Settlement, SettleAnswer | undefined>();
    const placed = new Map<HoldRequest, string | number | undefined>();
    for (const name of NAMES) {
      const ends = settlements.filter((one) => places.ofCall(one) === name);
      const calls = requests.filter((one) => places.ofRequest(one) === name);
      if (ends.length + calls.length === 0) continue;
      const answers = await cells[name].turn(ends, calls, instance && places.instanceAt(instance, name));
      for (const [index, end] of ends.entries()) settled.set(end, answers.settled[index]);
      for (const [index, call] of calls.entries()) {
        placed.set(call, answers.placed[index]);
        if (typeof answers.placed[index] === 'number') places.took(call, name);
      }
    }
    return { settled: answersTo(settlements, settled), placed: answersTo(requests, placed) };
  };
}

function answersTo<Asked, Answer>(
  asked: readonly Asked[],
  answers: ReadonlyMap<Asked, Answer | undefined>,
): readonly Answer[] {
  return asked.map((one) => {
    const answer = answers.get(one);
    assert.ok(answer !== undefined);
    return answer;
  });
}

interface Move {
  readonly slot: number;
  readonly to: Name;
}

async function changeCell(
  { there, back }: Stage,
  { slot, to }: Move,
  { killedAt, isGivenUp }: ChangeOfCell,
  changes: Changes,
): Promise<'moved' | 'stays'> {
  const databases = to === 'c2' ? there : back;
  const move = { slot, to, noticeMs: 0, drainMs: 0 };
  const before = (step: MoveStep): void => {
    if (step === killedAt) throw new Killed();
  };
  try {
    await moveSlot(databases, { ...move, before });
    return 'moved';
  } catch (fault) {
    if (isStillHeld(fault)) return 'stays';
    assert.ok(fault instanceof Killed, String(fault));
  }
  changes.killed += 1;
  if (isGivenUp) {
    const isLate = killedAt === 'depart' || killedAt === 'flip';
    if (isLate) await assert.rejects(takeBack(databases, slot), /in c[12] already/);
    else {
      await takeBack(databases, slot);
      changes.givenUp += 1;
      return 'stays';
    }
  }
  try {
    await moveSlot(databases, move);
    return 'moved';
  } catch (fault) {
    assert.ok(isStillHeld(fault), String(fault));
    return 'stays';
  }
}

function isStillHeld(fault: unknown): boolean {
  return fault instanceof CellFault && fault.message.includes('still ran');
}
