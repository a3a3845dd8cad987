import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEAST_ROLES } from './access.ts';

/** What takes more than looking as a viewer, once more by itself: the service and its other tests all read the table. */
const RIGHTS = {
  developer: [
    'DELETE /apps/{appId}/logo',
    'DELETE /apps/{appId}/webhook',
    'DELETE /apps/{appId}/webhook/listen-tokens/{listenTokenId}',
    'DELETE /apps/{appId}/webhook/listeners/{listenerId}',
    'GET /apps/{appId}/webhook/listen-tokens',
    'GET /apps/{appId}/webhook/listeners/{listenerId}/events',
    'PATCH /apps/{appId}',
    'POST /apps/{appId}/sandbox/users/{userId}/reset',
    'POST /apps/{appId}/webhook/listen-tokens',
    'POST /apps/{appId}/webhook/listeners',
    'POST /apps/{appId}/webhook/secret',
    'POST /apps/{appId}/webhook/test',
    'POST /console/:part/logo',
    'POST /console/:part/sandbox',
    'POST /console/:part/settings',
    'POST /console/:part/webhooks',
    'PUT /apps/{appId}/logo',
    'PUT /apps/{appId}/sandbox/users/{userId}/next',
    'PUT /apps/{appId}/webhook',
  ],
  'developer, live owner': [
    'DELETE /apps/{appId}/keys/{keyId}',
    'PATCH /apps/{appId}/keys/{keyId}',
    'POST /apps/{appId}/keys',
    'POST /apps/{appId}/keys/{keyId}/roll',
    'POST /console/:part/agents',
    'POST /console/:part/key',
    'POST /console/:part/keys',
    'POST /console/:part/playground',
  ],
  owner: [
    'DELETE /apps/{appId}/invitations/{invitationId}',
    'DELETE /apps/{appId}/sandbox/tokens/{testTokenId}',
    'DELETE /apps/{appId}/team/{accountId}',
    'GET /apps/{appId}/sandbox/tokens',
    'PATCH /apps/{appId}/team/{accountId}',
    'POST /apps/{appId}/invitations',
    'POST /apps/{appId}/sandbox/tokens',
    'POST /console/:part/team',
  ],
  viewer: ['POST /apps/{appId}/leave', 'POST /console/:part/leave'],
};

test('AU-06 viewers look, developers change the sandbox and settings, owners do everything', () => {
  const acts = Object.entries(LEAST_ROLES).filter(([name, role]) => !name.startsWith('GET ') || role !== 'viewer');
  const roles = Map.groupBy(acts, ([, role]) =>
    typeof role === 'string' ? role : `${role.sandbox}, live ${role.live}`,
  );
  assert.deepEqual(
    Object.fromEntries([...roles].map(([role, lines]) => [role, lines.map(([name]) => name).toSorted()])),
    RIGHTS,
  );
});
