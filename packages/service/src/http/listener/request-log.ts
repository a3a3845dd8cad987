import type { OpenOtherRoutes } from '#http/listener/other-routes.ts';
import { interfaceAt } from '#http/answers/unknown-address.ts';
import type { Exchange } from '#http/answers/respond.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';

/** Begins the line of a request, which is written when its answer has ended. */
type LogRequest = (exchange: Exchange) => void;

/** Where a request goes, as the route was declared. */
interface RouteNames {
  /** The name of a route of `server.ts`. Undefined if there is none at this path. */
  readonly own: (path: string) => string | undefined;
  readonly openOthers: OpenOtherRoutes;
}

/**
 * Logs every request with method, route, status and time, as servers do. For the person who develops: in production, only calls
 * have lines. The path is shown as declared, without the names and tokens in it, and never with its query (ER-03).
 */
export function createRequestLog(log: Log, names: RouteNames): LogRequest {
  return (exchange) => {
    const begunMs = steadyClock.nowMs();
    const { request, response, correlationId } = exchange;
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : undefined;
      const durationMs = Math.round(steadyClock.nowMs() - begunMs);
      const { method = '' } = request;
      void shownPath(exchange, names).then((path) =>
        log.info({ correlationId, method, path, status, durationMs }, 'request'),
      );
    });
  };
}

const PART = ':part';
const NOWHERE = '(no such address)';

async function shownPath({ path, request: { method = '' } }: Exchange, { own, openOthers }: RouteNames) {
  const known = own(path);
  if (known !== undefined) return known;
  const others = await openOthers().catch(() => undefined); // Whoever asked was told why.
  const page = others?.pages(path);
  if (page === undefined) return others?.planes.nameOf(method, path) ?? interfaceAt(path) ?? NOWHERE;
  const [root, first, ...rest] = path.split('/');
  return page.part === '' ? path : [root, first, PART, ...rest.slice(1)].join('/');
}
