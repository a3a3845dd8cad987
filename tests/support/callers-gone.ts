import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The users of calls whose connection ended before a service of this process had answered. */
const gone = new Set<unknown>();
subscribe('http.server.request.start', (message) => {
  const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse };
  response.once('close', () => {
    if (!response.writableFinished) gone.add(request.headers['x-service-user']);
  });
});

/** Returns true once the service has noticed that the caller of this user has left. */
export function hasLeft(user: string): boolean {
  return gone.has(user);
}
