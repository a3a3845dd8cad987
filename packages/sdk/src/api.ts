import { ServiceApiError } from './errors.ts';
import { paymentRequired, readFailure } from './failure.ts';
import type { Fetch, Signal } from './platform.ts';
import type { ChatFetch } from './retries.ts';
import type { ErrorCode } from './wire.ts';

/** How to reach the service. All values have been checked. */
export interface Access {
  /** The root address, without a slash at its end. */
  readonly root: string;
  readonly apiKey: string;
  /** Sends requests. */
  readonly send: Fetch;
  /** Sends chat requests, each with its idempotency key. */
  readonly sendChat: ChatFetch;
}

export interface CallOptions {
  readonly signal?: Signal | undefined;
  /** Identifies the call in the service's logs: up to 128 letters, digits and `._:-`. The service makes one if you do not. */
  readonly correlationId?: string | undefined;
}

interface Request extends CallOptions {
  readonly path: string;
  readonly userId: string;
  readonly body?: object | undefined;
}

/** Calls a route that answers with JSON. Throws every refusal. Errors of the network are thrown unchanged. */
export async function ask<Answer>({ root, apiKey, send }: Access, request: Request): Promise<Answer> {
  const { path, userId, body, signal, correlationId } = request;
  const response = await send(root + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'x-service-user': userId,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(correlationId === undefined ? {} : { 'x-correlation-id': correlationId }),
    },
    redirect: 'manual', // A redirect would send the key to another host.
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  if (response.ok) return parse(text, root) as Answer;
  const failure = readFailure(text);
  const { status } = response;
  const known = { ...failure, correlationId: failure.correlationId ?? response.headers.get('x-correlation-id') ?? '' };
  if (status !== 402) throw serviceError(status, known);
  throw paymentRequired(status, known);
}

function parse(text: string, root: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError(`The server at ${root} is not Purser.`);
  }
}

function serviceError(
  status: number,
  { code = 'UNKNOWN', message = `The service answered ${status}.`, correlationId }: KnownFailure,
): ServiceApiError {
  return new ServiceApiError({ status, code: code as ErrorCode | 'UNKNOWN', message, correlationId });
}

type KnownFailure = ReturnType<typeof readFailure> & { readonly correlationId: string };
