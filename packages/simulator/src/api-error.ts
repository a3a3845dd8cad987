import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The `error.type` of the format. Clients show it, and none decides by it. */
type ApiErrorType = 'invalid_request_error' | 'authentication_error' | 'rate_limit_error' | 'server_error';

/** Everything that an error answer contains. */
export interface ApiErrorFacts {
  readonly status: number;
  readonly type: ApiErrorType;
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** An error answer. The parsers throw it, and `simulator.ts` sends it, so that no parser needs to know the response. */
export class ApiError extends Error {
  readonly facts: ApiErrorFacts;

  constructor(facts: ApiErrorFacts) {
    super(facts.message);
    this.name = 'ApiError';
    this.facts = facts;
  }
}

/** A 400 about one field. `param` is its path, such as `messages[0].role`; empty for the body itself. */
export function malformed(param: string, message: string): ApiError {
  return new ApiError({ status: 400, type: 'invalid_request_error', message, param });
}

/** Sends an error in the form of the format. All four keys are present, because clients read them without a check. */
export function sendError(response: ServerResponse, { facts }: ApiError): void {
  const { message, type, param = null, code = null } = facts;
  response.writeHead(facts.status, { ...facts.headers, 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type, param, code } }));
}
