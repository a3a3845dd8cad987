import { OPERATOR_ROLES, type OperatorRole } from '@purser/contract/operator-access.ts';
import { ACCOUNTS_TEXTS as TEXTS } from '#web/ops/apps/texts.ts';

const CHOICES: readonly (OperatorRole | 'owner')[] = ['owner', ...OPERATOR_ROLES];

/** Both roles of an account as one choice: `owner`, or the role among operators. */
export function roleChoices(chosen: string) {
  return CHOICES.map((value) => ({ value, text: TEXTS.roles[value], isChosen: value === chosen }));
}

/** What a choice means in a request. A text that is no choice is given as it is, for the schema to refuse. */
export function roleFields(choice: string) {
  const operatorRole = OPERATOR_ROLES.find((role) => role === choice);
  return operatorRole === undefined ? { role: choice } : { role: 'operator', operatorRole };
}
