import { APP_ROLES, type AppRole, isAtLeast, leastRoleOf } from '../../packages/contract/src/access.ts';
import {
  isAtLeastOperator,
  OPERATOR_ROLES,
  type OperatorRole,
  operatorAccessOf,
} from '../../packages/contract/src/operator-access.ts';
import type { OperationObject } from '../../packages/service/src/http/openapi/open-api.ts';

/** A documented route. */
export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

/** These routes need a state that no caller is in. A caller who may use them hears of that state. */
const NOT_NOW: Readonly<Record<string, number>> = {
  requestEmailVerification: 409,
  verifyEmail: 400,
  addAuthenticator: 400,
  requestEnrolmentCode: 409,
  removeAuthenticator: 404,
  removePasskey: 404,
  makeRecoveryCodes: 409,
  acceptInvitation: 400,
  deleteProvider: 409, // It serves models.
  getPayment: 404,
  lookUpPayment: 404,
  solvePaymentCase: 404,
};

const ROLES: readonly string[] = APP_ROLES;
/** The role that callers have in the app. An operator has none: being one opens no app. */
function roleOf(caller: string): AppRole | undefined {
  return APP_ROLES.find((role) => role === caller);
}

/** The role of an operator among operators. The one without a name for it is an admin. */
function operatorRoleOf(caller: string): OperatorRole | undefined {
  return caller === 'operator' ? 'admin' : OPERATOR_ROLES.find((role) => caller === `operator, ${role}`);
}

/**
 * 401 for callers without a session; a listen token opens the routes of listeners and no others. Operator routes: 403 for other sessions, and for operators whose role is too low. Routes of the app: 403 for members whose role is too
 * low, 404 for everybody else. Other named things: 404 for all but their owner. Keys that are named here are live.
 */
export function expectedOf({ method, path, operationId, responses, security }: Operation, caller: string): number {
  const ofOperators = operatorRoleOf(caller);
  const isKnown = ofOperators !== undefined || ['stranger', ...ROLES].includes(caller);
  const done = NOT_NOW[operationId] ?? Number(Object.keys(responses).find((status) => status.startsWith('2')));
  if (caller === 'listen token') return security.some((one) => 'listenToken' in one) ? done : 401;
  if (!isKnown) return 401;
  if (path.startsWith('/operator/')) {
    const { least } = operatorAccessOf(`${method} ${path}`);
    return ofOperators !== undefined && isAtLeastOperator(ofOperators, least) ? done : 403;
  }
  if (path.startsWith('/apps/{appId}')) {
    const role = roleOf(caller);
    if (role === undefined) return 404;
    return isAtLeast(role, leastRoleOf(`${method} ${path}`, 'live')) ? done : 403;
  }
  return path.includes('{') && caller !== 'owner' ? 404 : done;
}
