import { BUDGET_FAULTS } from './faults/budgets.ts';
import { CELL_BUDGET_FAULTS } from './faults/cell-budgets.ts';
import { TEAM_FAULTS } from './faults/teams.ts';
import { ACCOUNT_FAULTS } from './faults/accounts.ts';
import { ADDRESS_FAULTS } from './faults/addresses.ts';
import { ANSWER_FAULTS } from './faults/answers.ts';
import { BACKUP_FAULTS } from './faults/backups.ts';
import { CALL_FAULTS } from './faults/call.ts';
import { CELL_FAULTS } from './faults/cells.ts';
import { CLAUDE_MESSAGES_FAULTS } from './faults/claude-messages.ts';
import { CONSOLE_FAULTS } from './faults/console.ts';
import { CONNECTION_FAULTS } from './faults/connections.ts';
import { AUDIT_FAULTS } from './faults/audit.ts';
import { EMBEDDINGS_FAULTS } from './faults/embeddings.ts';
import { EXACT_CHARGE_FAULTS } from './faults/exact-charges.ts';
import { HAND_OVER_FAULTS } from './faults/hand-over.ts';
import { LATE_FAULTS } from './faults/late.ts';
import { LIMIT_FAULTS } from './faults/limits.ts';
import { LONE_FAULTS } from './faults/lone.ts';
import { MESSAGES_ANSWER_FAULTS } from './faults/messages-answers.ts';
import { MONEY_OUT_FAULTS } from './faults/money-out.ts';
import { MOVE_FAULTS } from './faults/moves.ts';
import { MONTH_FAULTS } from './faults/months.ts';
import { PRICE_FAULTS } from './faults/prices.ts';
import { RECONCILIATION_FAULTS } from './faults/reconciliation.ts';
import { RESERVE_FAULTS } from './faults/reserve.ts';
import { MESSAGES_FAULTS } from './faults/messages.ts';
import { RESPONSES_ANSWER_FAULTS } from './faults/responses-answers.ts';
import { RESPONSES_FAULTS } from './faults/responses.ts';
import { RETRY_FAULTS } from './faults/retries.ts';
import { SANDBOX_FAULTS } from './faults/sandbox.ts';
import { SCHEMA_FAULTS } from './faults/schema.ts';
import { PEOPLE_FAULTS } from './faults/people.ts';
import { SECRET_FAULTS } from './faults/secrets.ts';
import { SESSION_FAULTS } from './faults/sessions.ts';
import { SETTLE_FAULTS } from './faults/settle.ts';
import { SSO_FAULTS } from './faults/sso.ts';
import { STATS_FAULTS } from './faults/stats.ts';
import { STATUS_FAULTS } from './faults/status.ts';
import { TELEMETRY_FAULTS } from './faults/telemetry.ts';
import { TURN_FAULTS } from './faults/turn.ts';
import { TURN_OF_BOTH_FAULTS } from './faults/turn-of-both.ts';
import { UPSTREAM_FAULTS } from './faults/upstreams.ts';
import type { Mutant } from './mutant.ts';

/** Every fault that the suite must notice, over the whole path of the money and at the door of the accounts. */
export const MUTANTS: readonly Mutant[] = [
  ...SCHEMA_FAULTS,
  ...RESERVE_FAULTS,
  ...SETTLE_FAULTS,
  ...LATE_FAULTS,
  ...TURN_FAULTS,
  ...TURN_OF_BOTH_FAULTS,
  ...LONE_FAULTS,
  ...BUDGET_FAULTS,
  ...CELL_BUDGET_FAULTS,
  ...MESSAGES_ANSWER_FAULTS,
  ...MONEY_OUT_FAULTS,
  ...MONTH_FAULTS,
  ...CALL_FAULTS,
  ...PRICE_FAULTS,
  ...RECONCILIATION_FAULTS,
  ...EMBEDDINGS_FAULTS,
  ...CLAUDE_MESSAGES_FAULTS,
  ...EXACT_CHARGE_FAULTS,
  ...ANSWER_FAULTS,
  ...UPSTREAM_FAULTS,
  ...MESSAGES_FAULTS,
  ...RESPONSES_FAULTS,
  ...RESPONSES_ANSWER_FAULTS,
  ...RETRY_FAULTS,
  ...SESSION_FAULTS,
  ...PEOPLE_FAULTS,
  ...SECRET_FAULTS,
  ...CONNECTION_FAULTS,
  ...CELL_FAULTS,
  ...HAND_OVER_FAULTS,
  ...MOVE_FAULTS,
  ...SANDBOX_FAULTS,
  ...STATS_FAULTS,
  ...ADDRESS_FAULTS,
  ...ACCOUNT_FAULTS,
  ...SSO_FAULTS,
  ...TEAM_FAULTS,
  ...AUDIT_FAULTS,
  ...LIMIT_FAULTS,
  ...CONSOLE_FAULTS,
  ...BACKUP_FAULTS,
  ...STATUS_FAULTS,
  ...TELEMETRY_FAULTS,
];
