import { sendJson } from '#http/respond.ts';
import type { ServerResponse } from 'node:http';

/** `GET /healthz`: the process is up. It does not ask the database, or an outage there would restart healthy processes. */
export function handleHealth(response: ServerResponse): void {
  sendJson(response, 200, { status: 'ok' });
}

/** `GET /readyz`: the database answers and has this build's schema. Gives no details, because anybody may ask. */
export async function handleReadiness(response: ServerResponse, isReady: () => Promise<boolean>): Promise<void> {
  const ready = await isReady();
  sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'unavailable' });
}
