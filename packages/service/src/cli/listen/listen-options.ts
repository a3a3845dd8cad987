import { text } from 'node:stream/consumers';
import { issueWords } from '@purser/contract/issues.ts';
import { listenSchema } from '@purser/contract/webhooks.ts';
import { readListenToken, readServiceUrl } from '#app/settings/config.ts';
import { VISIBLE_ASCII } from '#kernel/text/header-text.ts';
import { createLoopbackGuard, isThisMachine } from '#webhooks/delivery/loopback-guard.ts';
import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import { readHiddenLine } from '#cli/terminal/read-password.ts';

type ListenBody = ReturnType<typeof listenSchema.parse>;

/** The checked options of `listen`. */
export interface ListenOptions {
  readonly appId: string;
  readonly forwardTo: string;
  readonly serviceUrl: string;
  readonly wanted: ListenBody;
}

const DEFAULT_URL = 'http://127.0.0.1:8787';

/** These are the options of `listen` as they are written. */
export interface ListenWords {
  readonly app: string;
  readonly forward: string;
  readonly url?: string | undefined;
  readonly events?: string | undefined;
  readonly threshold?: string | undefined;
}

/** Checks the options of `listen`. Throws `UsageError`. */
export async function readListenOptions(words: ListenWords): Promise<ListenOptions> {
  const { app, forward, url = readServiceUrl() ?? DEFAULT_URL, events, threshold } = words;
  const fault = await createLoopbackGuard().refuse(forward);
  if (fault !== undefined) throw new UsageError(`--forward ${fault}.`);
  const service = URL.parse(url);
  const isSafe = service?.protocol === 'https:' || (service?.protocol === 'http:' && isThisMachine(service));
  if (!isSafe)
    throw new UsageError(
      '--url (or PURSER_URL) must be https, or http on this machine, because a token is sent there.',
    );
  const types = events?.split(',') ?? [
    'topup.completed',
    'connection.created',
    ...(threshold === undefined ? [] : ['balance.low']),
  ];
  const wanted = listenSchema.safeParse(
    {
      events: types,
      ...(threshold === undefined ? {} : { lowBalanceThresholdMicros: Number(threshold) }),
    },
    { error: issueWords },
  );
  if (!wanted.success) {
    const [issue] = wanted.error.issues;
    const option = issue?.path[0] === 'events' ? '--events' : '--threshold';
    throw new UsageError(`${option}: ${issue?.message ?? 'is not valid'}.`);
  }
  return { appId: app, forwardTo: forward, serviceUrl: url.replace(/\/+$/, ''), wanted: wanted.data };
}

/**
 * Reads the token from the environment, or asks for it at a terminal without echo, or reads standard input. Never from the
 * command line, which other users of the machine can read.
 */
export async function readToken(): Promise<string> {
  const token = (readListenToken() ?? (await typedToken())).trim();
  if (VISIBLE_ASCII.test(token)) return token;
  throw new CommandError(
    'Provide a listen token (from the Webhooks page of the app) in PURSER_LISTEN_TOKEN or on standard input.',
  );
}

function typedToken(): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin);
  return readHiddenLine(
    process.stdin,
    (part) => process.stderr.write(part),
    'Listen token (from the Webhooks page of the app): ',
  );
}
