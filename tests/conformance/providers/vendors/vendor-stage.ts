import assert from 'node:assert/strict';
import { after } from 'node:test';
import OpenAI from 'openai';
import { scrape } from '../../../support/metrics.ts';
import {
  type RecordedRequest,
  startScriptedUpstream,
  type UpstreamScript,
  type UpstreamStep,
} from '../../../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../../../support/service.ts';
import { type Billed, CACHE_WRITE_PRICES, chargeOf, PRICES, type Vendor } from './vendor.ts';

/** The whole service before servers of several vendors, each with its own wire, behind one stock client. */
export interface VendorStage {
  readonly service: TestService;
  readonly app: TestApp;
  readonly client: OpenAI;
  /** The name of a vendor's model, by what it is good for. */
  readonly modelOf: (vendor: Vendor, use: string) => string;
  /** Requests that a vendor's server has had, its refusals included. */
  readonly requestsOf: (vendor: Vendor) => readonly RecordedRequest[];
  /**
   * Makes one call, and checks that the vendor had one request, that the wallet paid what the formula makes of its bill, and that no
   * hold is left.
   */
  readonly paid: <Result>(vendor: Vendor, work: () => Promise<Result>) => Promise<Result>;
  /** Streams from now on stop in their middle until the promise resolves. */
  readonly holdBack: (until: Promise<unknown>) => void;
  /** Errors from now on have status 200, until it is called with false. */
  readonly disguise: (isOn: boolean) => void;
  /** Parts of requests that a library changed on its own. There must be none. */
  readonly warnings: () => Promise<number>;
}

const USER = 'anna';

/** This is called once by a test file, before its tests. */
export async function setVendorStage(vendors: readonly Vendor[]): Promise<VendorStage> {
  let gate: Promise<unknown> | undefined;
  let isDisguised = false;
  const bills = new Map<Vendor, (Billed | undefined)[]>();
  const servers = new Map<Vendor, Awaited<ReturnType<typeof startScriptedUpstream>>>();
  for (const vendor of vendors) {
    const server = await startScriptedUpstream();
    const billed: (Billed | undefined)[] = [];
    server.script((request) => {
      const answer = vendor.answer(request);
      billed.push(answer.billed);
      const { status, ...rest } = answer.script;
      return isDisguised && status !== undefined ? rest : heldBack(answer.script, gate);
    });
    servers.set(vendor, server);
    bills.set(vendor, billed);
  }
  const originOf = (vendor: Vendor): string => new URL(servers.get(vendor)?.baseUrl ?? '').origin;
  const environment = Object.assign({}, ...vendors.map((vendor) => vendor.environment)) as Record<string, string>;
  const service = await startTestService(catalogueOf(vendors, originOf), environment);
  const app = await service.addApp();
  await service.fund(app, USER, 1_000_000_000);
  after(async () => {
    const ends = await Promise.allSettled([service.close()]);
    ends.push(...(await Promise.allSettled(Array.from(servers.values(), (server) => server.close()))));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });

  const warnings = async (): Promise<number> => (await scrape(service.url)).get('purser_provider_warnings_total') ?? 0;

  return {
    service,
    app,
    client: new OpenAI({
      baseURL: `${service.url}/v1`,
      apiKey: app.liveKey,
      defaultHeaders: { 'x-service-user': USER },
      maxRetries: 0,
    }),
    modelOf: ({ kind }, use) => `${kind}.${use}`,
    requestsOf: (vendor) => servers.get(vendor)?.requests ?? [],
    paid: async (vendor, work) => {
      const billed = bills.get(vendor) ?? [];
      const before = await service.wallet(app, USER);
      const asked = billed.length;
      const result = await work();
      const { balance, held, openStreams } = await service.wallet(app, USER);
      assert.deepEqual([held, openStreams], [0, 0]);
      assert.equal(billed.length, asked + 1, 'one request for one call');
      const bill = billed.at(-1);
      assert.equal(before.balance - balance, bill === undefined ? 0 : chargeOf(bill));
      return result;
    },
    holdBack: (until) => {
      gate = until;
    },
    disguise: (isOn) => {
      isDisguised = isOn;
    },
    warnings,
  };
}

function heldBack(script: UpstreamScript, gate: Promise<unknown> | undefined): UpstreamScript {
  const { body } = script;
  if (gate === undefined || !Array.isArray(body)) return script;
  const steps = body as readonly UpstreamStep[];
  const middle = Math.floor(steps.length / 2);
  return { ...script, body: [...steps.slice(0, middle), { waitFor: gate }, ...steps.slice(middle)] };
}

function catalogueOf(vendors: readonly Vendor[], originOf: (vendor: Vendor) => string) {
  const models = vendors.flatMap((vendor) =>
    Object.entries(vendor.models).map(([use, providerModel]) => ({
      id: `${vendor.kind}.${use}`,
      provider: vendor.kind,
      providerModel,
      resale: 'open',
      ...(vendor.apis !== undefined && { apis: vendor.apis }),
      price: { ...PRICES, ...CACHE_WRITE_PRICES },
      contextTokens: 200_000,
      maxOutputTokens: 8_000,
      imageTokensMax: 1_000,
      timeoutMs: 5_000,
    })),
  );
  const providers = Object.fromEntries(vendors.map((vendor) => [vendor.kind, vendor.providerAt(originOf(vendor))]));
  return { providers, models, aliases: {} };
}
