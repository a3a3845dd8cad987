import { EXPECTED_TEXT, STREAM_END } from '../upstream/answers.ts';
import { bodyOf, CHAT_PATH, RESPONSES_PATH, responsesBodyOf } from './call.ts';
import { MODEL } from './catalogue.ts';
import type { Purser } from './purser.ts';
import type { Target } from './target.ts';

/** The last event of a stream of Responses. */
const RESPONSE_END = 'event: response.completed';

interface LiveTarget extends Pick<Purser, 'name' | 'service' | 'database' | 'apps' | 'users'> {
  /** The books that judge its calls. If they are absent, nothing judges them. */
  readonly books?: Purser['books'];
  readonly model?: string;
  readonly stream?: boolean;
  /** The wire by which it is called. */
  readonly wire?: 'chat' | 'responses';
}

/** Calls to a service, with real money. */
export function liveTargetOf({ name, service, database, apps, users, books, ...call }: LiveTarget): Target {
  const { model = MODEL, stream = false, wire = 'chat' } = call;
  const isChat = wire === 'chat';
  return {
    name,
    load: {
      url: service.ready,
      path: isChat ? CHAT_PATH : RESPONSES_PATH,
      body: isChat ? bodyOf({ stream, model }) : responsesBodyOf({ stream, model }),
      keys: apps.map(({ liveKey }) => liveKey),
      users,
      expected: !stream ? EXPECTED_TEXT : isChat ? STREAM_END : RESPONSE_END,
    },
    pid: service.pid,
    databasePid: database.pid,
    ...(books === undefined ? {} : { books }),
  };
}
