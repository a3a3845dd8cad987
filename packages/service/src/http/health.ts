import { sendJson } from '#http/respond.ts';
import type { ServerResponse } from 'node:http';

/** `GET /healthz`: the process is up. */
export function handleHealth(response: ServerResponse): void {
  sendJson(response, 200, { status: 'ok' });
}

/** `GET /readyz`: the database answers and has this build's schema. Gives no detail. */
export async function handleReadiness(response: ServerResponse, isReady: () => Promise<boolean>): Promise<void> {
  const ready = await isReady();
  sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'unavailable' });
}
