import type { Violation } from './call-rules.ts';
import type { HistoryLog, Receipt } from './history-log.ts';

/**
 * CP-08: checks that a budget has spent what its calls cost, holds nothing once they have ended, and was never
 * overspent.
 */
export function checkBudgets({ books, keys }: HistoryLog): readonly Violation[] {
  const violations: Violation[] = [];
  const charged = new Map<string, number>();
  for (const { budgetKey, month, charged: micros } of books.receipts) {
    if (budgetKey === undefined) continue;
    const name = `${budgetKey} ${month}`;
    charged.set(name, (charged.get(name) ?? 0) + micros);
  }
  const rows = new Map(books.budgets.map((row) => [`${row.line} ${row.month}`, row]));
  for (const name of new Set([...charged.keys(), ...rows.keys()])) {
    const [line = ''] = name.split(' ');
    const { spent = 0, held = 0 } = rows.get(name) ?? {};
    const right = charged.get(name) ?? 0;
    const most = keys.find((key) => key.line === line)?.budgetMax ?? 0;
    const about = `${name}: spent ${spent}, charged ${right}, held ${held}, at most ${most}`;
    if (spent !== right) violations.push({ rule: 'what a budget has spent is not the sum of its receipts', about });
    if (held !== 0) violations.push({ rule: 'a budget is held, but no call runs', about });
    if (right > most) violations.push({ rule: 'charged more than any budget that was set (CP-08)', about });
  }
  return violations;
}

/** Each call counts for the budget of its own key, and a call of a key without one for none. */
export function checkBudgetsOfCalls(
  { calls, keys }: HistoryLog,
  matched: ReadonlyMap<string, Receipt>,
): readonly Violation[] {
  return calls.flatMap(({ tag, key }) => {
    const receipt = matched.get(tag);
    const line = keys.find(({ name }) => name === key)?.line;
    if (receipt === undefined || receipt.budgetKey === line) return [];
    return [{ rule: 'a call counts for the budget of another key', about: `${tag}: ${receipt.budgetKey}, ${line}` }];
  });
}
