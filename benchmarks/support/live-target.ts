import { EXPECTED_TEXT, STREAM_END } from '../upstream/answers.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import { MODEL } from './catalogue.ts';
import type { Purser } from './purser.ts';
import type { Target } from './target.ts';

interface LiveTarget extends Pick<Purser, 'name' | 'service' | 'database' | 'apps' | 'users'> {
  /** The books that judge its calls. If they are absent, nothing judges them. */
  readonly books?: Purser['books'];
  readonly model?: string;
  readonly stream?: boolean;
}

/** Calls to a service, with real money. */
export function liveTargetOf({ name, service, database, apps, users, books, ...call }: LiveTarget): Target {
  const { model = MODEL, stream = false } = call;
  return {
    name,
    load: {
      url: service.ready,
      path: CHAT_PATH,
      body: bodyOf({ stream, model }),
      keys: apps.map(({ liveKey }) => liveKey),
      users,
      expected: stream ? STREAM_END : EXPECTED_TEXT,
    },
    pid: service.pid,
    databasePid: database.pid,
    ...(books === undefined ? {} : { books }),
  };
}
