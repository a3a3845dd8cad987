import { connectRequestSchema } from '@purser/contract/data-plane.ts';
import { redirectName } from '#connections/link.ts';
import { admitForUser, type DataPlane } from '#http/data-plane/data-plane.ts';
import { heavyBodies } from '#http/requests/heavy-bodies.ts';
import { parseExactBody } from '#http/requests/json-body.ts';
import { type Exchange, sendJson, sendRefusal } from '#http/answers/respond.ts';
import { readBySchema } from '#http/requests/schema-compilers.ts';
import { isoOf } from '#kernel/time/clock.ts';
import type { AppId } from '#kernel/values/ids.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

/**
 * `POST /connect` returns a link to the page where the user connects a wallet to the app. It writes nothing. The
 * redirect address must be in the app's allow-list. The link contains only a digest of it, and no message repeats it
 * (BI-02). With a test key, the checks are the same, and the link has no token (SB-09).
 */
export async function handleConnect(plane: DataPlane, exchange: Exchange): Promise<void> {
  const admitted = await admitForUser(plane, exchange);
  if (admitted instanceof Refusal) return sendRefusal(exchange, admitted);
  const { caller, userId, body } = admitted;
  const { appId } = caller.app;
  const parsed = await heavyBodies.run(caller.app.accountId, body, () => parseExactBody(body));
  if (parsed instanceof Refusal) return sendRefusal(exchange, parsed);
  const asked = await readAsked(plane, appId, parsed);
  if (asked instanceof Refusal) return sendRefusal(exchange, asked);
  const { redirectUri, state, userLabel } = asked;
  const { url, expiresAtMs } = plane.links.connect({
    appId,
    userId,
    redirect: redirectName(redirectUri),
    state,
    userLabel,
  });
  const connectUrl = caller.mode === 'live' ? url : plane.links.placeholders.connect;
  sendJson(exchange.response, 200, { connectUrl, expiresAt: isoOf(expiresAtMs) });
}

async function readAsked({ apps }: DataPlane, appId: AppId, body: JsonObject) {
  const asked = readBySchema(connectRequestSchema, body);
  if (asked instanceof Refusal) return asked;
  // Read from the database, not from the directory in memory: a change of the allow-list must take effect at once.
  const app = await apps.find(appId);
  if (app?.redirectUris.includes(asked.redirectUri) === true) return asked;
  return refuse('BAD_REQUEST', '`redirectUri`: must match one of the app’s `redirectUris`, character by character.', {
    param: 'redirectUri',
  });
}
