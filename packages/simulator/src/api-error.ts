import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** What `error.type` says; clients show it, none decides by it. */
export type ApiErrorType = 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'server_error';

export interface ApiErrorFacts {
  readonly status: number;
  readonly type: ApiErrorType;
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** An answer that is an error of the format. Thrown by the parsers and sent in one place, see `simulator.ts`. */
export class ApiError extends Error {
  readonly facts: ApiErrorFacts;

  constructor(facts: ApiErrorFacts) {
    super(facts.message);
    this.name = 'ApiError';
    this.facts = facts;
  }
}

/** A 400 about the field `param`, written as a path: `messages[0].role`. */
export function malformed(param: string, message: string): ApiError {
  return new ApiError({ status: 400, type: 'invalid_request_error', message, param });
}

/** Sends the error in the shape of the format: all four keys, with `null` where there is nothing to say. */
export function sendError(response: ServerResponse, { facts }: ApiError): void {
  const { message, type, param = null, code = null } = facts;
  response.writeHead(facts.status, { ...facts.headers, 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type, param, code } }));
}
