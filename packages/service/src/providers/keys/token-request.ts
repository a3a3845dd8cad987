import type { IncomingMessage } from 'node:http';
import { Agent, request as requestTls } from 'node:https';
import { proxiesOf } from '@purser/upstream-http/client.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import { request as requestPlain } from '#kernel/node-http.ts';
import { KeyFault } from '#providers/keys/fetched-key.ts';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

interface TokenRequest {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** The form, which is sent by POST. Without one, the request is a GET. */
  readonly form?: Readonly<Record<string, string>>;
  /** The variables that name proxies. If they are undefined, no proxy is used. */
  readonly environment: Environment | undefined;
}

/**
 * One small request for a token. It follows no redirects. Throws a `KeyFault` with the status alone: an answer may repeat what was
 * sent.
 */
export async function requestToken({ url, headers, form, environment }: TokenRequest): Promise<JsonObject> {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const isTls = url.protocol === 'https:';
  const options = {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(isTls && environment !== undefined && agentTo(url, environment)),
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = isTls ? requestTls(url, options, resolve) : requestPlain(url, options, resolve);
  sent.on('error', () => reject(new KeyFault('no token could be requested')));
  sent.end(body);
  const answer = await promise;
  const text = await textOf(answer);
  const parsed = parseJson(text);
  if (answer.statusCode !== 200) {
    throw new KeyFault(`the request for a token was answered with ${answer.statusCode}${codesIn(parsed)}`);
  }
  if (!isJsonObject(parsed)) throw new KeyFault('the request for a token was not answered with JSON');
  return parsed;
}

/**
 * An agent for the proxy that leads to a URL. Node reads `NO_PROXY` by other rules than our client, so it gets none, and takes no
 * address without a scheme.
 */
function agentTo(url: URL, environment: Environment): { readonly agent?: Agent } {
  if (proxiesOf(environment)(url) === undefined) return {};
  const address = environment['https_proxy'] || environment['HTTPS_PROXY'] || '';
  return { agent: new Agent({ proxyEnv: { HTTPS_PROXY: address.includes('://') ? address : `http://${address}` } }) };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > ANSWER_BYTES_MAX) break;
    }
  } catch {
    throw new KeyFault('the answer to the request for a token broke off');
  }
  if (bytes > ANSWER_BYTES_MAX) throw new KeyFault('the answer to the request for a token is too large');
  return Buffer.concat(parts).toString('utf8');
}

/** Returns Microsoft's numbers of what is wrong, by which an operator finds out more. They say nothing secret. */
function codesIn(answer: unknown): string {
  const codes: unknown = isJsonObject(answer) ? answer['error_codes'] : undefined;
  const numbers = Array.isArray(codes) ? codes.filter((code) => Number.isSafeInteger(code)).slice(0, 4) : [];
  return numbers.length === 0 ? '' : ` (${numbers.map((code) => `AADSTS${String(code)}`).join(', ')})`;
}
