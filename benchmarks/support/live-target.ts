import { EXPECTED_TEXT, STREAM_END } from '../upstream/answers.ts';
import { EXPECTED_VECTOR } from '../upstream/embeddings.ts';
import {
  bodyOf,
  CHAT_PATH,
  EMBEDDINGS_PATH,
  embeddingsBodyOf,
  MESSAGES_PATH,
  messagesBodyOf,
  RESPONSES_PATH,
  responsesBodyOf,
} from './call.ts';
import { MODEL } from './catalogue.ts';
import type { Purser } from './purser.ts';
import type { Target } from './target.ts';

/** How a service is called by each wire, and by what a whole answer is known. */
const WIRES = {
  chat: { path: CHAT_PATH, bodyOf, expected: EXPECTED_TEXT, end: STREAM_END },
  responses: {
    path: RESPONSES_PATH,
    bodyOf: responsesBodyOf,
    expected: EXPECTED_TEXT,
    end: 'event: response.completed',
  },
  messages: { path: MESSAGES_PATH, bodyOf: messagesBodyOf, expected: EXPECTED_TEXT, end: 'event: message_stop' },
  embeddings: { path: EMBEDDINGS_PATH, bodyOf: embeddingsBodyOf, expected: EXPECTED_VECTOR, end: EXPECTED_VECTOR },
} as const;

interface LiveTarget extends Pick<Purser, 'name' | 'service' | 'database' | 'apps' | 'users'> {
  /** The books that judge its calls. If they are absent, nothing judges them. */
  readonly books?: Purser['books'];
  readonly model?: string;
  readonly stream?: boolean;
  /** The wire by which it is called. */
  readonly wire?: keyof typeof WIRES;
}

/** Calls to a service, with real money. */
export function liveTargetOf({ name, service, database, apps, users, books, ...call }: LiveTarget): Target {
  const { model = MODEL, stream = false, wire = 'chat' } = call;
  const { path, bodyOf: write, expected, end } = WIRES[wire];
  return {
    name,
    load: {
      url: service.ready,
      path,
      body: write({ stream, model }),
      keys: apps.map(({ liveKey }) => liveKey),
      users,
      expected: stream ? end : expected,
    },
    pid: service.pid,
    databasePid: database.pid,
    ...(books === undefined ? {} : { books }),
  };
}
