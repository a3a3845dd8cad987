import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Exchange, sendJson } from '#http/answers/respond.ts';
import type { SeenRequest } from '#kernel/crypto/doctor-call.ts';

/** What a request looked like on arrival, if the doctor of this service sent it. Undefined for everybody else. */
export type EchoToDoctor = (request: IncomingMessage) => Promise<SeenRequest | undefined>;

/**
 * `GET /healthz` says that the process is up. It does not ask the database, or an outage there would restart healthy
 * processes. Only the doctor of this service also hears what arrived.
 */
export async function handleHealth({ request, response }: Exchange, echoToDoctor: EchoToDoctor): Promise<void> {
  const seen = await echoToDoctor(request);
  sendJson(response, 200, seen === undefined ? { status: 'ok' } : { status: 'ok', seen });
}

/** `GET /readyz` says whether this process should get calls, and if not, why, in one sentence. Anybody may ask. */
export async function handleReadiness(
  response: ServerResponse,
  readiness: () => Promise<string | undefined>,
): Promise<void> {
  const reason = await readiness();
  if (reason === undefined) sendJson(response, 200, { status: 'ready' });
  else sendJson(response, 503, { status: 'unavailable', reason });
}
