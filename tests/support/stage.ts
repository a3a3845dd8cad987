import assert from 'node:assert/strict';
import { after } from 'node:test';
import { createLinks } from '../../packages/service/src/connections/link.ts';
import type { StreamPace } from '../../packages/service/src/gateway/call/call.ts';
import { systemClock } from '../../packages/service/src/kernel/time/clock.ts';
import { catalogueAt } from './catalogue.ts';
import { type CallOptions, chat } from './client.ts';
import { keysOf, SHARED_SECRET } from './keys.ts';
import { startScriptedUpstream } from './scripted-upstream.ts';
import { type AppOptions, startSecondGateway, startTestService } from './service.ts';

/** The stage of most test files: a service, its provider and an app. It ends with the file. */
export type Stage = Awaited<ReturnType<typeof setStage>>;

interface StageOptions {
  /** Overrides fields of the open model of `catalogueAt`. */
  readonly model?: Readonly<Record<string, unknown>>;
  readonly app?: AppOptions;
  /** Makes further changes to the catalogue. */
  readonly catalogue?: (catalogue: ReturnType<typeof catalogueAt>) => unknown;
  readonly pace?: StreamPace;
  readonly environment?: Readonly<Record<string, string>>;
  /** The books must be right at the end. */
  readonly checksBooks?: boolean;
}

/** This is called once by a test file, before its tests. */
export async function setStage(options: StageOptions = {}) {
  const { model, catalogue = (basis) => basis, environment, pace, checksBooks = false } = options;
  const upstream = await startScriptedUpstream();
  const whole = catalogue(catalogueAt(upstream.baseUrl, model));
  const service = await startTestService(whole, environment, undefined, pace === undefined ? {} : { pace });
  after(async () => {
    try {
      const differences = checksBooks ? await service.check() : [];
      await service.close();
      assert.deepEqual(differences, []);
    } finally {
      await upstream.close();
    }
  });
  const app = await service.addApp(options.app);
  let users = 0;
  return {
    upstream,
    service,
    app,
    /** A user that no other test uses, with this balance, and with a monthly cap if one is given. */
    newUser: async (amount: number, cap?: number) => {
      const user = `user-${(users += 1)}`;
      await service.fund(app, user, amount, cap);
      return user;
    },
    /** A call of a user of the app, by its live key unless `more` has another. */
    callAs: (user: string, fields?: Readonly<Record<string, unknown>>, more?: Partial<CallOptions>) =>
      chat({ url: service.url, key: app.liveKey, user, ...more }, fields),
    /** The links of the service as it made them so many seconds ago, or as somebody with another secret makes them. */
    linksOf: (secondsAgo = 0, secret = service.secret) =>
      createLinks({
        keysOf: keysOf(secret).proof,
        publicUrl: 'https://purser.test',
        clock: { nowMs: () => systemClock.nowMs() - secondsAgo * 1_000 },
      }),
  };
}

/** The same with a second gateway on its database that shares its secret, like two processes of one service. */
export async function setTwoGateways(options: Pick<StageOptions, 'catalogue'> = {}) {
  const common = { model: { timeoutMs: 30_000 }, environment: SHARED_SECRET, checksBooks: true };
  const stage = await setStage({ ...common, ...options });
  return { ...stage, second: await startSecondGateway(stage.service, SHARED_SECRET) };
}
