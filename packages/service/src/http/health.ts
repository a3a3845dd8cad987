import { sendJson } from '#http/respond.ts';
import type { ServerResponse } from 'node:http';

/** `GET /healthz`: the process is up. It does not ask the database, or an outage there would restart healthy processes. */
export function handleHealth(response: ServerResponse): void {
  sendJson(response, 200, { status: 'ok' });
}

/** `GET /readyz`: whether this process should get calls, and if not, why, in one sentence. Anybody may ask. */
export async function handleReadiness(
  response: ServerResponse,
  readiness: () => Promise<string | undefined>,
): Promise<void> {
  const reason = await readiness();
  if (reason === undefined) sendJson(response, 200, { status: 'ready' });
  else sendJson(response, 503, { status: 'unavailable', reason });
}
