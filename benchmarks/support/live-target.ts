import { EXPECTED_TEXT } from '../upstream/answers.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import { MODEL } from './catalogue.ts';
import type { BenchApp, BenchDatabase } from './database.ts';
import type { Running } from './processes.ts';
import type { Target } from './targets.ts';

interface LiveTarget {
  readonly name: string;
  readonly service: Running;
  readonly database: BenchDatabase;
  readonly apps: readonly BenchApp[];
  readonly users: number;
  readonly model?: string;
}

/** Plain calls to a service of one's own, with real money. */
export function liveTargetOf({ name, service, database, apps, users, model = MODEL }: LiveTarget): Target {
  return {
    name,
    load: {
      url: service.ready,
      path: CHAT_PATH,
      body: bodyOf({ stream: false, model }),
      keys: apps.map(({ liveKey }) => liveKey),
      users,
      expected: EXPECTED_TEXT,
    },
    pid: service.pid,
    databasePid: database.pid,
    isCharged: true,
  };
}
