import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CallerAddress } from '#http/requests/caller-address.ts';
import { parseExactBody } from '#http/requests/json-body.ts';
import { type BodyReader, PUBLIC_BODY_BYTES_MAX, readBody, knownCallers, strangers } from '#http/requests/read-body.ts';
import type { Exchange } from '#http/answers/respond.ts';
import { Refused } from '#http/answers/refused.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';

/** The largest ordinary body is an app with twenty redirect addresses. */
const BODY_BYTES_MAX = 65_536;
/** Operators write the whole catalogue at once. */
const LARGE_BODY_BYTES_MAX = 1_048_576;
const JSON_TYPE = /^application\/json *(;|$)/i;

/**
 * Reads the bodies of the planes exactly, as JSON. The framework reads one only after the session was found, so nobody else
 * can make the process hold more than a small one (CP-11). An empty body has no content type that could be wrong: it counts as
 * no body (SB-05).
 */
export function readBodies(
  app: FastifyInstance<Server, IncomingMessage, ServerResponse>,
  addressOf: CallerAddress,
  exchangeOf: (request: FastifyRequest) => Exchange,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const body = await readBody(exchangeOf(request), readerOf(request, addressOf));
    if (body instanceof Refusal) throw new Refused(body);
    if (body === undefined || body.length === 0) return undefined;
    if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) throw new Refused(notJson());
    return exactly(body);
  });
}

function readerOf({ signedIn, raw, routeOptions }: FastifyRequest, addressOf: CallerAddress): BodyReader {
  const most = routeOptions.config.isLarge === true ? LARGE_BODY_BYTES_MAX : BODY_BYTES_MAX;
  if (signedIn !== undefined) return { arriving: knownCallers, caller: signedIn.account.accountId, most };
  return { arriving: strangers, caller: addressOf(raw), most: PUBLIC_BODY_BYTES_MAX };
}

function exactly(bytes: Buffer): JsonObject {
  const body = parseExactBody(bytes);
  if (body instanceof Refusal) throw new Refused(body);
  return body;
}

export function notJson(): Refusal<'BAD_REQUEST'> {
  return refuse('BAD_REQUEST', 'The body must be JSON, sent as `content-type: application/json`.');
}
