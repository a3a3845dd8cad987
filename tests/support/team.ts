import { sealedEmail } from './database.ts';
import { newMember, newOwner } from './control.ts';
import type { TestService } from './service.ts';

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
        await database.query(
          `insert into accounts.members (app_id, account_id, role)
           select $1, account_id, $2 from accounts.accounts where email = $3
           on conflict (app_id, account_id) do update set role = excluded.role`,
          [appId, role, sealedEmail(email)],
        );
      }
    },
    accountOf: async (email: string): Promise<string> => {
      const { rows } = await database.query<{ account_id: string }>(
        'select account_id from accounts.accounts where email = $1',
        [sealedEmail(email)],
      );
      return rows[0]?.account_id ?? '';
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
