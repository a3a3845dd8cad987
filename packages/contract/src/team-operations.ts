import { OWN, tagged } from './operation.ts';

/** The operations on the members of an app. */
export const TEAM_OPERATIONS = tagged('Apps and keys', {
  'GET /apps/{appId}/activity': {
    id: 'listActivity',
    summary: 'Lists what all members did with an app, newest first',
    description:
      'The list has acts on keys, the profile, the team, the webhook and test users, and says who acted, when and from where. `action` restricts it to one kind. It has no acts of operators and no sign-ins.',
    refuses: OWN,
  },
  'GET /apps/{appId}/team': {
    id: 'getTeam',
    summary: 'Lists the members of an app with their roles, and the invitations that have not been used yet',
    refuses: OWN,
  },
  'POST /apps/{appId}/invitations': {
    id: 'inviteMember',
    summary: 'Mails an invitation to become a member of an app',
    description:
      'The link works once, within seven days, for an account whose e-mail is the invited one and verified. Inviting an address again makes the earlier link void. An app has at most 50 members and invitations.',
    refuses: [...OWN, 'CONFLICT', 'TOO_MANY_REQUESTS'],
  },
  'DELETE /apps/{appId}/invitations/{invitationId}': {
    id: 'withdrawInvitation',
    summary: 'Withdraws an invitation; its link stops working at once',
    refuses: OWN,
  },
  'PATCH /apps/{appId}/team/{accountId}': {
    id: 'changeMember',
    summary: 'Gives a member another role, in force with their next request',
    description: 'A 409 means that this is the last owner who can sign in.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'DELETE /apps/{appId}/team/{accountId}': {
    id: 'removeMember',
    summary: 'Removes a member, who loses access with their next request',
    description:
      'Keys that they made keep working, because keys belong to the app. Invitations that they sent are withdrawn. A 409 means that this is the last owner who can sign in.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /apps/{appId}/leave': {
    id: 'leaveApp',
    summary: 'Ends your own membership of an app',
    description: 'A 409 means that you are the last owner who can sign in.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /invitations/accept': {
    id: 'acceptInvitation',
    summary: 'Accepts an invitation with the token from its mail',
    refuses: ['CONFLICT', 'FORBIDDEN'],
  },
});
