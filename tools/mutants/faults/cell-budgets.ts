import type { Mutant, NamedTest } from '../mutant.ts';
import { inFile, lockBudgets, roomInBudget } from './places.ts';

const budgetTest = (name: string): NamedTest => ({ file: 'tests/proofs/cells/cell-budgets.test.ts', name });
const callTest = (name: string): NamedTest => ({ file: 'tests/proofs/cells/cell-budget-calls.test.ts', name });

const LENT = budgetTest('CE-05 the home counts loans before they are spent');
const SHARE = budgetTest('CE-05 a call is refused while more may exist elsewhere');
const BACK = budgetTest('CE-05 budget is free only once its cell gave it up');
const MESSAGES = budgetTest('CE-05 late, lost or repeated messages create no budget');
const LOWERED = budgetTest('CE-05 a lowered budget holds in every cell');
const RESTORED = budgetTest('CE-05 a restored home learns from a cell what it had lent');
const UNANSWERED = budgetTest('CE-05 a restored home learns its loans despite lost recalls');
const ANSWERED = budgetTest('CE-05 a restored home answers a cell that overspent');
const faultTest = (name: string): NamedTest => ({ file: 'tests/proofs/cells/cell-budget-faults.test.ts', name });
const AT_ONCE = budgetTest('CE-05 simultaneous recalls free only what the cell gave up');
const ANOTHER = faultTest('CE-05 a call finds a cell’s share amid other requests');
const THIRD = faultTest('CE-05 no budget is called spent while a cell is away');
const LATE = faultTest('CE-05 WA-10 a late charge takes only its cell’s share');
const OVERTAKEN = faultTest('CE-05 an overtaken question brings nothing back');
const CONFIRMED = faultTest('CE-05 WA-10 a loan barred at a start is confirmed and pays');
const SMALLER = faultTest('CE-05 a call without room blocks no smaller ones');
const MONTH = faultTest('CE-05 WA-08 a hold settles in its own month’s allowance');
const CHECKED = budgetTest('CE-05 WA-09 the check compares what is lent with its parts');
const LAST_CALL = callTest('CE-05 a budget is used up to the last call');
const AWAY = callTest('CE-05 a cell without home spends only its loan');
const REFUSED = callTest('CE-05 a refused question stops no other key');
const READ = callTest('CE-05 an owner reads the budget of all cells or nothing');
const STARTED = callTest('CE-05 a start bars loans from before a restore');
const ASKERS = callTest('CE-05 only cells ask about budgets, and only the home lends');

const SOURCE = 'packages/service/src';
const BUDGETS = `${SOURCE}/ledger/budgets`;
const lend = inFile(`${BUDGETS}/lend_budget.sql`);
const take = inFile(`${BUDGETS}/take_allowance.sql`);
const recall = inFile(`${BUDGETS}/recall_allowances.sql`);
const giveBack = inFile(`${BUDGETS}/give_back_allowance.sql`);
const endRecall = inFile(`${BUDGETS}/end_recall.sql`);
const here = inFile(`${BUDGETS}/budget_here.sql`);
const refusal = inFile(`${SOURCE}/ledger/hold/budget_refusal.sql`);
const ofPart = inFile(`${SOURCE}/ledger/hold/granted_of_part.sql`);
const differences = inFile(`${SOURCE}/ledger/check/differences.sql`);
const use = inFile(`${BUDGETS}/budget_use.sql`);
const settleLate = inFile(`${SOURCE}/ledger/settlement/settle_late.sql`);
const budgetHome = inFile(`${BUDGETS}/budget-home.ts`);
const findRoom = inFile(`${BUDGETS}/find-room.ts`);
const questions = inFile(`${SOURCE}/http/cells/money/budgets.ts`);
const ownCell = inFile(`${SOURCE}/app/cells/own-cell.ts`);
const wiring = inFile(`${SOURCE}/app/cells/budgets.ts`);

/** Faults in budgets that hold over several cells. */
export const CELL_BUDGET_FAULTS: readonly Mutant[] = [
  {
    id: 'cell-without-an-allowance-spends-all',
    clause: 'CP-08',
    edits: [lockBudgets('case when borrows then coalesce(budget.allowance_micros, 0) end', 'budget.allowance_micros')],
    killer: LENT,
  },
  {
    id: 'lent-and-not-counted-at-home',
    clause: 'CP-08',
    edits: [lend('set lent_micros = b.lent_micros - part.lent_micros + lent,', 'set lent_micros = b.lent_micros,')],
    killer: LENT,
  },
  {
    id: 'home-spends-what-it-has-lent',
    clause: 'CP-08',
    edits: [
      roomInBudget(' - b.held_micros - b.lent_micros', ' - b.held_micros - b.lent_spent_micros'),
      refusal('b.held_micros + b.lent_micros - b.lent_spent_micros)', 'b.held_micros)'),
    ],
    killer: LENT,
  },
  {
    id: 'share-of-a-part-of-the-budget',
    clause: 'WA-13',
    edits: [ofPart('when b.no_more_until > clock_timestamp() then granted', 'when true then granted')],
    killer: SHARE,
  },
  {
    id: 'lowered-hold-is-never-placed',
    clause: 'WA-13',
    edits: [ofPart('when b.no_more_until > clock_timestamp() then granted', 'when false then granted')],
    killer: SHARE,
  },
  {
    id: 'allowance-given-back-and-kept',
    clause: 'CP-08',
    edits: [giveBack('least(coalesce(b.allowance_micros, 0), b.spent_micros + b.held_micros)', 'b.allowance_micros')],
    killer: BACK,
  },
  {
    id: 'recall-takes-back-at-once',
    clause: 'CP-08',
    edits: [
      recall(
        'return query\n  update ledger.allowances a set number = a.number + 1',
        `update ledger.key_budgets b set lent_micros = b.lent_spent_micros where b.key_id = p_key and b.month = its_month;
  return query
  update ledger.allowances a set number = a.number + 1`,
      ),
    ],
    killer: BACK,
  },
  {
    id: 'holds-elsewhere-given-back',
    clause: 'CP-08',
    edits: [
      giveBack(
        'returning true, b.spent_micros + b.held_micros, b.spent_micros',
        'returning true, b.spent_micros, b.spent_micros',
      ),
    ],
    killer: BACK,
  },
  {
    id: 'late-allowance-taken',
    clause: 'CP-08',
    edits: [take('when p_number > b.allowance_number then p_lent', 'when p_number > 0 then p_lent')],
    killer: MESSAGES,
  },
  {
    id: 'late-recall-ends',
    clause: 'CP-08',
    edits: [endRecall(' and g.number > a.lent_number', '')],
    killer: MESSAGES,
  },
  {
    id: 'recall-hides-the-answer-to-another',
    clause: 'CP-08',
    edits: [endRecall('g.number > a.lent_number', 'g.number = a.number')],
    killer: AT_ONCE,
  },
  {
    id: 'overtaken-recall-is-nothing',
    clause: 'CP-08',
    edits: [budgetHome('answers.some(({ answer }) => answer?.is_given_back === false)', 'false')],
    killer: ANOTHER,
  },
  {
    id: 'overtaken-answer-is-nothing',
    clause: 'CP-08',
    edits: [endRecall('case when counted = cardinality(p_cells) then before - lent end', 'before - lent')],
    killer: ANOTHER,
  },
  {
    id: 'recall-without-a-number-of-its-own',
    clause: 'CP-08',
    edits: [recall('number = a.number + 1', 'number = a.number')],
    killer: BACK,
  },
  {
    id: 'allowance-of-a-larger-budget',
    clause: 'CP-08',
    edits: [here('case when budget < allowance_limit then 0 else', 'case when false then 0 else')],
    killer: LOWERED,
  },
  {
    id: 'restored-home-forgets-what-it-lent',
    clause: 'CP-08',
    edits: [lend('greatest(p_used, p_allowance)', 'p_used')],
    killer: RESTORED,
  },
  {
    id: 'home-forgets-what-a-cell-had-spent',
    clause: 'CP-08',
    edits: [lend('greatest(p_used, p_allowance)', 'p_allowance')],
    killer: RESTORED,
  },
  {
    id: 'overtaken-question-counts',
    clause: 'CP-08',
    edits: [lend('case when p_number >= part.lent_number then', 'case when true then')],
    killer: OVERTAKEN,
  },
  {
    id: 'recall-without-an-answer-hides-a-question',
    clause: 'CP-08',
    edits: [lend('case when p_number >= part.lent_number then', 'case when p_number >= part.number then')],
    killer: UNANSWERED,
  },
  {
    id: 'more-spent-than-is-lent',
    clause: 'CP-08',
    edits: [lend('least(lent, greatest(part.spent_micros, p_spent))', 'greatest(part.spent_micros, p_spent)')],
    killer: ANSWERED,
  },
  {
    id: 'refused-question-stops-every-key',
    clause: 'CP-08',
    edits: [wiring('home.lend(asked, from).catch(notNow)', 'home.lend(asked, from)')],
    killer: REFUSED,
  },
  {
    id: 'cell-is-not-told-again',
    clause: 'CP-08',
    edits: [lend(' or p_allowance < lent', '')],
    killer: CONFIRMED,
  },
  {
    id: 'large-call-speaks-for-a-small-one',
    clause: 'CP-08',
    edits: [findRoom(' && asked.least >= known.least', '')],
    killer: SMALLER,
  },
  {
    id: 'check-passes-over-what-is-lent',
    clause: 'WA-09',
    edits: [differences('where coalesce(a.lent, 0) <> b.lent_micros', 'where false')],
    killer: CHECKED,
  },
  {
    id: 'home-lends-without-asking-a-third-cell',
    clause: 'CP-08',
    edits: [
      budgetHome(
        'const { isWhole } = await inRounds({ key: asked.key, month: asked.month, except });',
        'const isWhole = except !== undefined;',
      ),
    ],
    killer: THIRD,
  },
  {
    id: 'late-charge-beyond-the-allowance',
    clause: 'WA-10',
    edits: [settleLate('case when borrows then coalesce(b.allowance_micros, 0) end', 'b.limit_micros')],
    killer: LATE,
  },
  {
    id: 'asks-with-the-use-of-another-month',
    clause: 'WA-08',
    edits: [use('b.key_id = p_key and b.month = this_month', 'b.key_id = p_key order by b.month limit 1')],
    killer: MONTH,
  },
  {
    id: 'home-refuses-before-it-takes-back',
    clause: 'CP-08',
    edits: [
      findRoom('ask === undefined ? await gatherFor(first) :', 'ask === undefined ? { ...TOLD, reason: undefined } :'),
    ],
    killer: LAST_CALL,
  },
  {
    id: 'home-that-is-away-is-a-spent-budget',
    clause: 'CP-08',
    edits: [findRoom("isAll: true, refused: 'budget_elsewhere' }", "isAll: true, refused: 'budget_reached' }")],
    killer: AWAY,
  },
  {
    id: 'budget-read-in-one-cell',
    clause: 'CP-08',
    edits: [questions('added(await read(lines), ', 'added([await here(lines)], ')],
    killer: READ,
  },
  {
    id: 'allowance-of-before-a-restore',
    clause: 'CP-08',
    edits: [ownCell(' await barAllowances(tx);', ' return;')],
    killer: STARTED,
  },
  {
    id: 'every-start-bars-allowances',
    clause: 'CP-08',
    edits: [ownCell('if (await noteIncarnation(tx)) ', 'await noteIncarnation(tx);\n      ')],
    killer: STARTED,
  },
  {
    id: 'every-cell-lends',
    clause: 'CP-08',
    edits: [
      wiring('map.budgetHome() === undefined ? home.lend(asked, from)', 'from.length > 0 ? home.lend(asked, from)'),
    ],
    killer: ASKERS,
  },
  {
    id: 'every-cell-takes-back',
    clause: 'CP-08',
    edits: [wiring('map.budgetHome()?.name === from', 'from.length > 0')],
    killer: ASKERS,
  },
];
