import { composePlanes } from '#app/compose/control-plane.ts';
import { createExactAddress } from '#http/requests/caller-address.ts';
import { createClosing } from '#http/listener/closing.ts';
import { createOwnCalls } from '#http/listener/own-calls.ts';
import { createHttpServer } from '#http/server.ts';
import { createEchoToDoctor } from '#doctor/outside/echo.ts';
import { createInFlight } from '#http/listener/in-flight.ts';

type Acts = Omit<Parameters<typeof composePlanes>[0], 'ownCalls' | 'inFlight'>;
type Serves = Omit<
  Parameters<typeof createHttpServer>[0],
  'planes' | 'inFlight' | 'closing' | 'logsRequests' | 'echoToDoctor'
>;

/** Makes the planes and pages, and the server of all. Pages may send calls of people through it. */
export async function openServer(acts: Acts, serves: Serves) {
  const inFlight = createInFlight();
  const closing = createClosing();
  const ownCalls = createOwnCalls();
  const planes = await composePlanes({ ...acts, inFlight, ownCalls });
  const addressOf = createExactAddress(acts.config.proxyHops, acts.log);
  const echoToDoctor = createEchoToDoctor({ ...acts, addressOf });
  const logsRequests = acts.config.logFormat === 'text';
  const server = createHttpServer({ ...serves, planes, inFlight, closing, logsRequests, echoToDoctor });
  ownCalls.attach(server);
  return { server, closing, readMetrics: serves.metrics.readAll, planes, inFlight };
}
