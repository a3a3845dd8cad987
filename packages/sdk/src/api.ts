import { ServiceApiError } from './errors.ts';
import { paymentRequired, readFailure } from './failure.ts';
import type { Fetch, Signal } from './platform.ts';
import type { ChatFetch } from './retries.ts';
import type { ErrorCode } from './wire.ts';

/** How the service is reached, checked. */
export interface Access {
  /** Without a slash at its end. */
  readonly root: string;
  readonly apiKey: string;
  /** Does the requests. */
  readonly send: Fetch;
  /** Does those for chat, with the retries among them marked. */
  readonly sendChat: ChatFetch;
}

export interface CallOptions {
  readonly signal?: Signal | undefined;
  /** Names the call in the service's logs: up to 128 letters, digits and `._:-`. Otherwise the service makes a name. */
  readonly correlationId?: string | undefined;
}

interface Request extends CallOptions {
  readonly path: string;
  readonly userId: string;
  readonly body?: object | undefined;
}

/** Asks a route at the root for JSON. Every refusal is thrown; what the network raises stays as it is. */
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
    redirect: 'manual', // The key goes nowhere else.
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
    throw new TypeError(`What answers at ${root} is not Purser.`);
  }
}

function serviceError(
  status: number,
  { code = 'UNKNOWN', message = `The service answered ${status}.`, correlationId }: KnownFailure,
): ServiceApiError {
  return new ServiceApiError({ status, code: code as ErrorCode | 'UNKNOWN', message, correlationId });
}

type KnownFailure = ReturnType<typeof readFailure> & { readonly correlationId: string };
