import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findFreePort } from '../../packages/service/src/embedded/server/free-port.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import { CALL_PRICE_MICROS, MODEL, USAGE } from './catalogue.ts';
import { createOwner, startServer } from './database.ts';
import { lateBooks } from './late-books.ts';
import type { OpenPurse, PeerKind } from './peer.ts';
import { poll, untilHealthy } from './poll.ts';
import { start } from './processes.ts';

const NAME = 'LiteLLM';
const SETTING = 'PURSER_BENCH_LITELLM';
const KEYS = 100;
const RICH_DOLLARS = 1_000_000;
const MICROS = 1_000_000;
const WRITE_SECONDS = 5;
/** It writes charges every few seconds, one batch after the other. */
const LATE_MS_MAX = 40_000;
/** It makes its tables when it starts for the first time. */
const START_MS_MAX = 300_000;
const MASTER_KEY = 'sk-master-of-the-benchmark';

/** The proxy of LiteLLM with PostgreSQL, which its budgets need, in one worker, as every other gateway has one process. */
export const liteLlm: PeerKind = {
  name: NAME,
  howToGet: `set \`${SETTING}\` to the path of its program`,
  start: async ({ tools, cores, databaseCores, directory, upstreamUrl, started }) => {
    const program = process.env[SETTING];
    if (program === undefined) return undefined;
    mkdirSync(directory, { recursive: true });
    const server = await startServer({ tools, cores: databaseCores, directory: path.join(directory, 'postgres') });
    started.defer(server.stop);
    const owner = createOwner(server.url);
    started.defer(() => owner.end());
    const port = await findFreePort();
    const settings = path.join(directory, 'config.yaml');
    writeFileSync(settings, settingsOf(upstreamUrl));
    const running = await start({
      tools,
      cores,
      program,
      args: ['--config', settings, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
      environment: environmentOf(server.url),
      directory,
      isReady: /Application startup complete|Uvicorn running/,
      startMsMax: START_MS_MAX,
    });
    started.defer(running.stop);
    const url = `http://127.0.0.1:${port}`;
    await untilHealthy(`${url}/health/liveliness`, START_MS_MAX);
    const keys: string[] = [];
    while (keys.length < KEYS) keys.push(await newKey(url, RICH_DOLLARS));
    const readCharged = async (): Promise<number> => {
      const { rows } = await owner.query<{ readonly spent: number | null }>(
        'select sum(spend) as spent from "LiteLLM_VerificationToken"',
      );
      return Math.round((rows[0]?.spent ?? 0) * MICROS);
    };
    const books = lateBooks({ name: NAME, price: CALL_PRICE_MICROS, readCharged, lateMsMax: LATE_MS_MAX });
    const load = { url, keys };
    return { name: NAME, pid: running.pid, databasePid: server.pid, load, books, openPurse: pursesOf(url) };
  },
};

/** Writes the settings as JSON, because JSON is YAML. */
function settingsOf(upstreamUrl: string): string {
  const model = {
    model_name: MODEL,
    litellm_params: {
      model: 'openai/bench-upstream',
      api_base: `${upstreamUrl}/v1`,
      api_key: 'sk-of-the-upstream',
      rust: true, // Its core in Rust, wherever that covers the route. By Python otherwise.
    },
    model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000004 },
  };
  return JSON.stringify({
    model_list: [model],
    litellm_settings: { set_verbose: false },
    general_settings: { master_key: MASTER_KEY, proxy_batch_write_at: WRITE_SECONDS },
  });
}

function environmentOf(databaseUrl: string): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    LITELLM_MASTER_KEY: MASTER_KEY,
    LITELLM_SALT_KEY: 'sk-salt-of-the-benchmark',
    LITELLM_MODE: 'PRODUCTION',
    LITELLM_LOG: 'ERROR',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  };
}

/** A virtual key that may spend so much. */
async function newKey(url: string, dollars: number): Promise<string> {
  const { key } = (await ask(`${url}/key/generate`, { max_budget: dollars })) as { readonly key?: string };
  if (key === undefined) throw new Error(`${NAME} made no key.`);
  return key;
}

/** Asks as the master of the gateway. The request is a POST if there is a body. */
async function ask(url: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
  const response = await fetch(url, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${NAME} answered ${response.status} at ${new URL(url).pathname}.`);
  return await response.json();
}

function pursesOf(url: string): OpenPurse {
  return async (calls) => {
    const money = calls * CALL_PRICE_MICROS;
    const key = await newKey(url, money / MICROS);
    const readLeft = async (): Promise<number> => {
      const found = (await ask(`${url}/key/info?key=${encodeURIComponent(key)}`)) as {
        readonly info?: { readonly spend?: number };
      };
      return Math.round(money - (found.info?.spend ?? 0) * MICROS);
    };
    return {
      url: `${url}${CHAT_PATH}`,
      headers: { authorization: `Bearer ${key}` },
      body: bodyOf({ stream: false, maxTokens: USAGE.completion }),
      money,
      price: CALL_PRICE_MICROS,
      left: async (answered) => {
        const wanted = money - answered * CALL_PRICE_MICROS;
        return (await poll(readLeft, (left) => left === wanted, LATE_MS_MAX)).value;
      },
    };
  };
}
