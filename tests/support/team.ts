import { sealedEmail } from './database.ts';
import { newMember, newOwner } from './control.ts';
import type { TestService } from './service.ts';
import { sql, sqlValue } from './sql.ts';

let invited = 0;

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
      await database.query(
        `insert into accounts.invitations (invitation_id, app_id, email, role, digest, invited_by, expires_at)
         select $1, $2, $4, 'viewer', sha256(convert_to($1, 'UTF8')), account_id, clock_timestamp() + interval '1 day'
         from accounts.accounts where email = $3`,
        [email, appId, sealedEmail(owner.email), sealedEmail(email)],
      );
      return email;
    },
  };
}
