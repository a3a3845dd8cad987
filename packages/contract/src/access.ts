/** What a member may do with an app, from the least to the most. */
export const APP_ROLES = ['viewer', 'developer', 'owner'] as const;
export type AppRole = (typeof APP_ROLES)[number];

/** The least role that an act needs, or one for each mode of the key that it is about. */
type LeastRole = AppRole | { readonly sandbox: AppRole; readonly live: AppRole };

const KEYS = { sandbox: 'developer', live: 'owner' } as const;

/**
 * The least role for every route and every page of an app (AU-06, decision 55). The service does not start with a route or
 * page of an app that is not here. A test opens all of them in each role and compares.
 */
export const LEAST_ROLES: Readonly<Record<string, LeastRole>> = {
  'GET /apps/{appId}': 'viewer',
  'PATCH /apps/{appId}': 'developer',
  'PUT /apps/{appId}/logo': 'developer',
  'DELETE /apps/{appId}/logo': 'developer',
  'GET /apps/{appId}/keys': 'viewer',
  'POST /apps/{appId}/keys': KEYS,
  'GET /apps/{appId}/keys/{keyId}': 'viewer',
  'PATCH /apps/{appId}/keys/{keyId}': KEYS,
  'POST /apps/{appId}/keys/{keyId}/roll': KEYS,
  'DELETE /apps/{appId}/keys/{keyId}': KEYS,
  'GET /apps/{appId}/usage': 'viewer',
  'GET /apps/{appId}/stats': 'viewer',
  'GET /apps/{appId}/latest-calls': 'viewer',
  'GET /apps/{appId}/calls': 'viewer',
  'GET /apps/{appId}/calls/{callId}': 'viewer',
  'GET /apps/{appId}/users': 'viewer',
  'GET /apps/{appId}/users/{userId}': 'viewer',
  'GET /apps/{appId}/sandbox': 'viewer',
  'POST /apps/{appId}/sandbox/users/{userId}/reset': 'developer',
  'PUT /apps/{appId}/sandbox/users/{userId}/next': 'developer',
  'POST /apps/{appId}/sandbox/tokens': 'owner',
  'GET /apps/{appId}/sandbox/tokens': 'owner',
  'DELETE /apps/{appId}/sandbox/tokens/{testTokenId}': 'owner',
  'GET /apps/{appId}/webhook': 'viewer',
  'PUT /apps/{appId}/webhook': 'developer',
  'DELETE /apps/{appId}/webhook': 'developer',
  'POST /apps/{appId}/webhook/secret': 'developer',
  'POST /apps/{appId}/webhook/test': 'developer',
  'GET /apps/{appId}/webhook/deliveries': 'viewer',
  'POST /apps/{appId}/webhook/listeners': 'developer',
  'GET /apps/{appId}/webhook/listeners/{listenerId}/events': 'developer',
  'DELETE /apps/{appId}/webhook/listeners/{listenerId}': 'developer',
  'POST /apps/{appId}/webhook/listen-tokens': 'developer',
  'GET /apps/{appId}/webhook/listen-tokens': 'developer',
  'DELETE /apps/{appId}/webhook/listen-tokens/{listenTokenId}': 'developer',

  'GET /apps/{appId}/activity': 'viewer',
  'GET /apps/{appId}/team': 'viewer',
  'POST /apps/{appId}/invitations': 'owner',
  'DELETE /apps/{appId}/invitations/{invitationId}': 'owner',
  'PATCH /apps/{appId}/team/{accountId}': 'owner',
  'DELETE /apps/{appId}/team/{accountId}': 'owner',
  'POST /apps/{appId}/leave': 'viewer',

  'GET /console/:part': 'viewer',
  'GET /console/:part/calls': 'viewer',
  'GET /console/:part/call': 'viewer',
  'GET /console/:part/keys': 'viewer',
  'POST /console/:part/keys': KEYS,
  'GET /console/:part/key': 'viewer',
  'POST /console/:part/key': KEYS,
  'GET /console/:part/agents': 'viewer',
  'POST /console/:part/agents': KEYS,
  'GET /console/:part/playground': 'viewer',
  'POST /console/:part/playground': KEYS,
  'GET /console/:part/activity': 'viewer',
  'GET /console/:part/team': 'viewer',
  'POST /console/:part/team': 'owner',
  'GET /console/:part/leave': 'viewer',
  'POST /console/:part/leave': 'viewer',
  'GET /console/:part/users': 'viewer',
  'GET /console/:part/user': 'viewer',
  'GET /console/:part/sessions': 'viewer',
  'GET /console/:part/sandbox': 'viewer',
  'POST /console/:part/sandbox': 'developer',
  'GET /console/:part/webhooks': 'viewer',
  'POST /console/:part/webhooks': 'developer',
  'GET /console/:part/delivery': 'viewer',
  'GET /console/:part/logo': 'viewer',
  'POST /console/:part/logo': 'developer',
  'GET /console/:part/models': 'viewer',
  'GET /console/:part/settings': 'viewer',
  'POST /console/:part/settings': 'developer',
};

/** Whether a role may do what needs at least the other. */
export function isAtLeast(role: AppRole, least: AppRole): boolean {
  return APP_ROLES.indexOf(role) >= APP_ROLES.indexOf(least);
}

/**
 * The least role for a route or page, such as `GET /apps/{appId}`. If the mode of a key decides and is not known yet, the lower of
 * the two. A name that is not in the table is a fault, so nobody can open what was forgotten here.
 */
export function leastRoleOf(name: string, mode?: 'sandbox' | 'live'): AppRole {
  const least = LEAST_ROLES[name];
  if (least === undefined) throw new Error(`\`${name}\` has no least role in contract/src/access.ts.`);
  return typeof least === 'string' ? least : least[mode ?? 'sandbox'];
}
