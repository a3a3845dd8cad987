import path from 'node:path';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import type { Pool } from '../../packages/service/src/db/pool/pool.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import { CALL_PRICE_MICROS, MODEL, USAGE } from './catalogue.ts';
import { createOwner, startServer } from './database.ts';
import { lateBooks } from './late-books.ts';
import type { OpenPurse, PeerKind } from './peer.ts';
import { poll, untilHealthy } from './poll.ts';
import { start } from './processes.ts';

const NAME = 'one-api';
const SETTING = 'PURSER_BENCH_ONE_API';
const USERS = 1_000;
const RICH = 1_000_000_000_000;
/** It writes charges every five seconds. */
const LATE_MS_MAX = 20_000;
const HEALTHY_MS_MAX = 10_000;
const CONNECTIONS_MAX = 64;

/** A model at the prices of `bench`, at an upstream that speaks as OpenAI does (type 1, status 1: in use). */
const CHANNEL = `
  with channel as (
    insert into channels (type, key, status, name, weight, created_time, test_time, response_time, base_url, other, balance,
      balance_updated_time, models, "group", used_quota, model_mapping, priority, config)
    values (1, 'sk-of-the-upstream', 1, 'upstream', 0, 0, 0, 0, $1, '', 0, 0, '${MODEL}', 'default', 0, '', 0, '')
    returning id
  )
  insert into abilities ("group", model, channel_id, enabled, priority) select 'default', '${MODEL}', id, true, 0 from channel`;
const PRICES = `
  insert into options (key, value) values ('ModelRatio', '{"${MODEL}":1}'), ('CompletionRatio', '{"${MODEL}":4}')
  on conflict (key) do update set value = excluded.value`;
/** Users with so much money, and a token for each that may spend all of it. */
const PEOPLE = `
  with person as (
    insert into users (username, password, display_name, role, status, email, github_id, wechat_id, lark_id, oidc_id,
      access_token, quota, used_quota, request_count, "group", aff_code, inviter_id)
    select $1 || n, '-', '', 1, 1, '', '', '', '', '', lpad($1 || n, 32, '0'), $3, 0, 0, 'default', $1 || n, 0
    from generate_series(0, $2::int - 1) n
    returning id, username
  )
  insert into tokens (user_id, key, status, name, created_time, accessed_time, expired_time, remain_quota, unlimited_quota,
    used_quota, subnet)
  select id, rpad(username, 48, 'x'), 1, username, 0, 0, -1, 0, true, 0, '' from person`;

/** `one-api` with PostgreSQL, and with what its manual recommends for load: charges in batches, settings in memory. */
export const oneApi: PeerKind = {
  name: NAME,
  howToGet: `set \`${SETTING}\` to the path of its program`,
  start: async ({ tools, cores, databaseCores, directory, upstreamUrl, started }) => {
    const program = process.env[SETTING];
    if (program === undefined) return undefined;
    const server = await startServer({ tools, cores: databaseCores, directory: path.join(directory, 'postgres') });
    started.defer(server.stop);
    const owner = createOwner(server.url);
    started.defer(() => owner.end());
    const port = await findFreePort();
    const launch = () =>
      start({
        tools,
        cores,
        program,
        args: ['--log-dir', path.join(directory, 'logs')],
        environment: environmentOf(server.url, port),
        directory,
        isReady: /server started on/,
      });
    // The first start makes its tables. It reads prices and channels when it starts.
    await (await launch()).stop();
    await owner.query(CHANNEL, [upstreamUrl]);
    await owner.query(PRICES);
    await owner.query(PEOPLE, ['user', USERS, RICH]);
    const running = await launch();
    started.defer(running.stop);
    const url = `http://127.0.0.1:${port}`;
    await untilHealthy(`${url}/api/status`, HEALTHY_MS_MAX);
    const keys = Array.from({ length: USERS }, (_, user) => keyOf(`user${user}`));
    const books = lateBooks({
      name: NAME,
      price: CALL_PRICE_MICROS,
      readCharged: async () => USERS * RICH - (await readLeft(owner, 'user%')),
      lateMsMax: LATE_MS_MAX,
    });
    const load = { url, keys, users: USERS };
    return { name: NAME, pid: running.pid, databasePid: server.pid, load, books, openPurse: pursesOf(owner, url) };
  },
};

function environmentOf(databaseUrl: string, port: number): Readonly<Record<string, string>> {
  return {
    SQL_DSN: databaseUrl,
    SQL_MAX_OPEN_CONNS: String(CONNECTIONS_MAX),
    SQL_MAX_IDLE_CONNS: String(CONNECTIONS_MAX),
    PORT: String(port),
    SESSION_SECRET: 'a secret of the benchmark',
    MEMORY_CACHE_ENABLED: 'true',
    BATCH_UPDATE_ENABLED: 'true',
    GLOBAL_API_RATE_LIMIT: '0',
    GLOBAL_WEB_RATE_LIMIT: '0',
  };
}

function keyOf(user: string): string {
  return `sk-${user.padEnd(48, 'x')}`;
}

async function readLeft(owner: Pool, users: string): Promise<number> {
  const { rows } = await owner.query<{ readonly left: bigint }>(
    'select sum(quota)::bigint as left from users where username like $1',
    [users],
  );
  return Number(rows[0]?.left);
}

function pursesOf(owner: Pool, url: string): OpenPurse {
  let purses = 0;
  return async (calls) => {
    const prefix = `purse${(purses += 1)}n`;
    const money = calls * CALL_PRICE_MICROS;
    await owner.query(PEOPLE, [prefix, 1, money]);
    const user = `${prefix}0`;
    return {
      url: `${url}${CHAT_PATH}`,
      headers: { authorization: `Bearer ${keyOf(user)}` },
      body: bodyOf({ stream: false, maxTokens: USAGE.completion }),
      money,
      price: CALL_PRICE_MICROS,
      left: async (answered) => {
        const wanted = money - answered * CALL_PRICE_MICROS;
        return (
          await poll(
            () => readLeft(owner, user),
            (left) => left === wanted,
            LATE_MS_MAX,
          )
        ).value;
      },
    };
  };
}
