import type { Mutant, NamedTest } from '../mutant.ts';
import { inFile, reserve } from './places.ts';

const budgetTest = (name: string): NamedTest => ({ file: 'tests/proofs/cells/cell-budgets.test.ts', name });
const callTest = (name: string): NamedTest => ({ file: 'tests/proofs/cells/cell-budget-calls.test.ts', name });

const LENT = budgetTest('CE-05 a cell spends what it was lent of a budget, and the home counts that before');
const SHARE = budgetTest(
  'CE-05 a call that would get less than it asks for in a cell is refused until it is known that there is no more',
);
const BACK = budgetTest('CE-05 what a cell gives back is free elsewhere only once that cell has given it up');
const MESSAGES = budgetTest('CE-05 messages about a budget that are late, lost or repeated create nothing');
const LOWERED = budgetTest('CE-05 a budget that its owner lowers holds in every cell, also where more was lent before');
const RESTORED = budgetTest(
  'CE-05 a home that was restored learns from a cell what it had lent, and one that was never asked what is spent there',
);
const UNANSWERED = budgetTest(
  'CE-05 a home that was restored learns from a cell what it had lent, also after recalls that nobody answered',
);
const ANSWERED = budgetTest('CE-05 a home that was restored answers a cell that has spent more than it was lent');
const faultTest = (name: string): NamedTest => ({ file: 'tests/proofs/cells/cell-budget-faults.test.ts', name });
const AT_ONCE = budgetTest(
  'CE-05 of two recalls at once, either answer frees what the cell gave up, and more that was lent since is not freed',
);
const ANOTHER = faultTest('CE-05 a call finds what a cell has while others ask or take back at the same time');
const THIRD = faultTest(
  'CE-05 what a third cell does not use is found, and while that one is away, nobody says that the budget is spent',
);
const LATE = faultTest('CE-05 WA-10 a late charge takes no more of a budget than its cell has of it');
const OVERTAKEN = faultTest('CE-05 a question that was overtaken brings nothing back that its cell gave up meanwhile');
const CONFIRMED = faultTest(
  'CE-05 WA-10 what a start has barred is confirmed also if all is lent, and pays a charge that was told',
);
const SMALLER = faultTest('CE-05 a call that finds no room says nothing of one that needs less');
const MONTH = faultTest('CE-05 WA-08 an allowance is of one month, and a hold of the old month settles there');
const CHECKED = budgetTest('CE-05 WA-09 the check compares what is lent with its parts');
const LAST_CALL = callTest(
  'CE-05 a budget is used up to the last call, wherever the calls are, and what they give back is used elsewhere',
);
const AWAY = callTest(
  'CE-05 a cell whose home of budgets is away spends what it was lent, and refuses the rest in words that may be tried again',
);
const REFUSED = callTest('CE-05 a question that the database of the home refuses stops no other key');
const READ = callTest('CE-05 what an owner reads of a budget is that of all cells, and nothing if one of them is away');
const STARTED = callTest(
  'CE-05 a gateway bars at its start what its cell was lent, if that may be of before a restore',
);
const ASKERS = callTest('CE-05 only cells ask about budgets, the home lends alone, and only it takes back');

const SOURCE = 'packages/service/src';
const BUDGETS = `${SOURCE}/ledger/budgets`;
const lend = inFile(`${BUDGETS}/lend_budget.sql`);
const take = inFile(`${BUDGETS}/take_allowance.sql`);
const recall = inFile(`${BUDGETS}/recall_allowances.sql`);
const giveBack = inFile(`${BUDGETS}/give_back_allowance.sql`);
const endRecall = inFile(`${BUDGETS}/end_recall.sql`);
const here = inFile(`${BUDGETS}/budget_here.sql`);
const lock = inFile(`${SOURCE}/ledger/hold/lock_budgets.sql`);
const differences = inFile(`${SOURCE}/ledger/check/differences.sql`);
const use = inFile(`${BUDGETS}/budget_use.sql`);
const settleLate = inFile(`${SOURCE}/ledger/settlement/settle_late.sql`);
const budgetHome = inFile(`${BUDGETS}/budget-home.ts`);
const findRoom = inFile(`${BUDGETS}/find-room.ts`);
const questions = inFile(`${SOURCE}/http/cells/budgets.ts`);
const ownCell = inFile(`${SOURCE}/app/own-cell.ts`);
const wiring = inFile(`${SOURCE}/app/cell-budgets.ts`);

/** Faults in budgets that hold over several cells. */
export const CELL_BUDGET_FAULTS: readonly Mutant[] = [
  {
    id: 'cell-without-an-allowance-spends-all',
    clause: 'CP-08',
    edits: [lock('case when borrows then coalesce(l.allowance_micros, 0) end', 'l.allowance_micros')],
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
      reserve(' - budget_elsewhere[at];', ';'),
      reserve('budget_held[at] + budget_elsewhere[at]);', 'budget_held[at]);'),
    ],
    killer: LENT,
  },
  {
    id: 'share-of-a-part-of-the-budget',
    clause: 'WA-13',
    edits: [reserve('elsif not budget_is_all[at] then', 'elsif false then')],
    killer: SHARE,
  },
  {
    id: 'lowered-hold-is-never-placed',
    clause: 'WA-13',
    edits: [reserve('elsif not budget_is_all[at] then', 'else')],
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
