// A service with two processes and traffic of every kind, for a Prometheus to look at.
import { execFileSync } from 'node:child_process';
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeCertificates } from '../real-servers/fronts.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { chat } from '../../support/client.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { globalSetup, globalTeardown } from '../../support/global-setup.ts';
import {
  completionBody,
  type NextScript,
  type RecordedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
  type UpstreamScript,
} from '../../support/scripted-upstream.ts';
import { createTestGround, type TestApp } from '../../support/service.ts';
import { startServiceProcess } from '../../support/service-process.ts';

export type Observed = Awaited<ReturnType<typeof startObserved>>;

/** What has to happen for alerts, and then what the runbook says to do. */
export interface Play {
  readonly alerts: readonly string[];
  readonly cause: (observed: Observed) => Promise<unknown>;
  /**
   * What ends the alert. It is undefined if the alert ends by itself, after a time that is too long to wait for here.
   */
  readonly remedy?: (observed: Observed) => Promise<unknown>;
  /** How long the first of them may take to fire. Two and a half minutes unless given. */
  readonly fireMsMax?: number;
}

const WORKERS = 2;
const RICH = 'rich';
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const PIECES = ['Good', ' morning', '.'];
/** The time between two rounds of calls, of which there are eight in each. */
const ROUND_MS = 400;

/** The answer to a request, buffered or streamed as it asks, with other figures in its usage. */
export function answerWith({ body }: RecordedRequest, figures: object): UpstreamScript {
  const isStream = (body as { readonly stream?: boolean } | undefined)?.stream === true;
  const usage = { ...USAGE, ...figures };
  if (!isStream) return { body: completionBody({ model: 'large-upstream', content: 'Good morning.', usage }) };
  return { body: streamSteps({ model: 'large-upstream', pieces: PIECES, usage, includeUsageChunk: true }) };
}

export const answering: NextScript = (request) => answerWith(request, {});

export const failing = (status: number): NextScript => ({ status, body: '{"error":{"message":"made by a try"}}' });

/**
 * Starts the stage. With `isCalm`, none of the calls fails. The data directory is a small disk of its own, if this
 * process may mount one.
 */
export async function startObserved({ isCalm }: { readonly isCalm: boolean }) {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-observed-'));
  await globalSetup();
  const [provider, broken] = [await startScriptedUpstream(), await startScriptedUpstream()];
  provider.script(answering);
  broken.script(failing(500));
  const catalogue = catalogueWith(provider, broken);
  const ground = await createTestGround(catalogue);
  const app = await ground.addApp();
  await ground.fund(app, RICH, 1_000_000_000);
  const network = await startDatabaseProxy(ground.database.url);
  const front = await startFront(directory);
  const collector = await startOtlpReceiver();
  const dataDirectory = mkdtempSync(path.join(directory, 'data-'));
  const disk = mountDisk(dataDirectory);
  const service = await startServiceProcess({
    dataDirectory,
    catalogue,
    databaseUrl: network.url,
    workers: WORKERS,
    leaseSeconds: 10,
    environment: {
      PURSER_ENV: 'production',
      PURSER_SECRET: 'a secret of the tries, known to one service',
      PURSER_PUBLIC_URL: front.url,
      PURSER_LOG_LEVEL: 'warn',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRICS_EXPORTER: 'none', // Prometheus reads them.
      PURSER_STRIPE_SECRET_KEY: 'rk_live_of_the_tries_alone',
      PURSER_STRIPE_WEBHOOK_SECRET: 'whsec_of_the_tries_alone_and_long_enough',
      PURSER_STRIPE_API_BASE: front.url,
    },
  });
  const traffic = startTraffic(service.url, app, isCalm);
  return {
    directory,
    dataDirectory,
    ground,
    app,
    service,
    /** The way to the database: it can be cut. */
    network,
    /** The provider of the model `large`. It answers until it is told otherwise. */
    provider,
    /** Gets the traces of all calls. */
    collector,
    close: async () => {
      await traffic.stop();
      await service.stop();
      front.close();
      collector.close();
      await network.close();
      await Promise.all([provider.close(), broken.close()]);
      await ground.close();
      await globalTeardown();
      disk.unmount();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function catalogueWith(provider: ScriptedUpstream, broken: ScriptedUpstream): object {
  const catalogue = catalogueAt(provider.baseUrl, { timeoutMs: 120_000 });
  const [large] = catalogue.models;
  return {
    ...catalogue,
    providers: { ...catalogue.providers, broken: { kind: 'openai-compatible', baseUrl: broken.baseUrl } },
    models: [...catalogue.models, { ...large, id: 'acme.broken-1', provider: 'broken', providerModel: 'broken' }],
  };
}

function mountDisk(directory: string): { readonly unmount: () => void } {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    return { unmount: () => undefined };
  }
  return { unmount: () => void execFileSync('umount', ['--lazy', directory]) };
}

/** The public address: a proxy with a certificate that ends in two days. */
async function startFront(directory: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const { certificate, key } = makeCertificates(directory);
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (_request, response) => {
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** Calls of every outcome, until it is stopped. A call that fails is part of it. */
function startTraffic(
  url: string,
  { liveKey, testKey }: TestApp,
  isCalm: boolean,
): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const live = { url, key: liveKey, user: RICH };
  const round = () => [
    chat(live),
    chat(live),
    chat(live, { stream: true }),
    chat({ ...live, key: testKey }),
    ...(isCalm ? [] : [chat(live, { model: 'acme.broken-1' })]),
    chat(live, { model: `made-up-${Math.random()}` }),
    chat({ ...live, user: 'poor' }),
    chat({ ...live, key: 'nobody' }),
  ];
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await Promise.allSettled(round());
      await pause(ROUND_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
