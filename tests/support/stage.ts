import { after } from 'node:test';
import type { StreamPace } from '../../packages/service/src/gateway/call/call.ts';
import { catalogueAt } from './catalogue.ts';
import { startScriptedUpstream } from './scripted-upstream.ts';
import { type AppOptions, startTestService } from './service.ts';

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
}

/** This is called once by a test file, before its tests. */
export async function setStage({ model, app: limits, catalogue, pace, environment }: StageOptions = {}) {
  const upstream = await startScriptedUpstream();
  const basis = catalogueAt(upstream.baseUrl, model);
  const options = pace === undefined ? {} : { pace };
  const whole = catalogue === undefined ? basis : catalogue(basis);
  const service = await startTestService(whole, environment, undefined, options);
  after(async () => {
    try {
      await service.close();
    } finally {
      await upstream.close();
    }
  });
  const app = await service.addApp(limits);
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
  };
}
