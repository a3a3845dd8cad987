import { APP_ROLES, type AppRole, isAtLeast, leastRoleOf } from '../../../packages/contract/src/access.ts';
import {
  isAtLeastOperator,
  OPERATOR_ROLES,
  type OperatorRole,
  operatorAccessOf,
} from '../../../packages/contract/src/operator-access.ts';
import type { OpenApiDocument, OperationObject } from '../../../packages/service/src/http/openapi/open-api.ts';
import { sealedEmail } from '../../support/database.ts';
import { newMember, newOwner } from '../../support/control.ts';
import type { TestService } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';

/** A documented route. */
export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

/** Every route of the document. */
export function operationsOf(document: OpenApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, ...operation })),
  );
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
  if (caller === 'test token') return security.some((one) => 'testToken' in one) ? done : 401;
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

let [invited, pending] = [0, 0];

/** Members of an app in every role, which come back after acts that move them. `spare`: an owner to act on. */
export async function newTeam(service: TestService, appId: string, owner: Awaited<ReturnType<typeof newOwner>>) {
  const { owner: database } = service.database;
  const viewer = await newMember(service, appId, 'viewer');
  const developer = await newMember(service, appId, 'developer');
  const spare = await newMember(service, appId, 'owner');
  const roles = [
    [owner, 'owner'],
    [spare, 'owner'],
    [developer, 'developer'],
    [viewer, 'viewer'],
  ] as const;
  return {
    viewer,
    developer,
    spare,
    restore: async () => {
      for (const [{ email }, role] of roles) {
        await sql(database)`insert into accounts.members (app_id, account_id, role)
          select ${appId}, account_id, ${role} from accounts.accounts where email = ${sealedEmail(email)}
          on conflict (app_id, account_id) do update set role = excluded.role`;
      }
    },
    accountOf: async (email: string): Promise<string> => {
      const accountId = await sqlValue<string>(database)`select account_id from accounts.accounts
        where email = ${sealedEmail(email)}`;
      return accountId ?? '';
    },
    /** Its id. */
    newInvitation: async (): Promise<string> => {
      const email = `pending-${(invited += 1)}@example.test`;
      await sql(database)`
        insert into accounts.invitations (invitation_id, app_id, email, role, digest, invited_by, expires_at)
        select ${email}, ${appId}, ${sealedEmail(email)}, 'viewer', sha256(convert_to(${email}, 'UTF8')), account_id,
          clock_timestamp() + interval '1 day' from accounts.accounts where email = ${sealedEmail(owner.email)}`;
      return email;
    },
    /** A refund that an operator has asked for, and that waits for a second person. Its id. */
    newPendingAct: async (asker: string): Promise<string> => {
      const id = `pnd_${(pending += 1)}`;
      const act = JSON.stringify({ kind: 'refund', appId, userId: 'anna', amount: '1', key: id });
      await sql(
        database,
      )`insert into operator.pending_acts (pending_id, action, subject, key, act, amount_micros, reason,
          requested_by, requested_email, expires_at)
        select ${id}, 'wallet.refund', ${`${appId} anna`}, ${id}, ${act}, 1, 'agreed', account_id, email,
          clock_timestamp() + interval '1 hour' from accounts.accounts where email = ${sealedEmail(asker)}`;
      return id;
    },
  };
}
