import type { ServerResponse } from 'node:http';
import type { Session } from './sessions.ts';

const PING_MS = 25_000;

/** The open pages of each user, which are told at once that something has changed. */
export interface Live {
  /** Keeps this answer open until the session ends. */
  readonly follow: (session: Pick<Session, 'account' | 'over'>, response: ServerResponse) => void;
  readonly tell: (userId: string, type: string) => void;
}

/** Tells browsers the news by server-sent events. */
export function createLive(): Live {
  const followers = new Map<string, Set<ServerResponse>>();
  return {
    follow: ({ account: { userId }, over }, response) => {
      const own = followers.get(userId) ?? new Set();
      followers.set(userId, own.add(response));
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write(': open\n\n');
      const ping = setInterval(() => response.write(': here\n\n'), PING_MS); // Proxies end what is silent.
      const leave = (): void => {
        over.removeEventListener('abort', leave);
        clearInterval(ping);
        own.delete(response);
        if (own.size === 0 && followers.get(userId) === own) followers.delete(userId);
        response.end();
      };
      over.addEventListener('abort', leave);
      response.on('close', leave);
    },
    tell: (userId, type) => {
      // Only that there is news: the page asks for the balance, so what comes late or twice does no harm.
      for (const response of followers.get(userId) ?? []) response.write(`data: ${JSON.stringify({ type })}\n\n`);
    },
  };
}
