/**
 * Why a request has no whole response.
 * `connection`: it could not be opened, failed, or was closed before the response was whole.
 * `protocol`: the upstream sent bytes that are not exactly one HTTP/1.1 response.
 * `body`: the response is not UTF-8.
 * `timeout`: the upstream took longer, or was silent for longer, than the caller allows.
 * `unsent`: the caller aborted before a byte of the request was written.
 * `aborted`: the caller aborted later, so the upstream may have done the work.
 * `invalid`: a header holds a character that no header may hold. Nothing was sent.
 * `closed`: the client was closed.
 */
export type RequestErrorKind =
  | 'connection'
  | 'protocol'
  | 'body'
  | 'timeout'
  | 'unsent'
  | 'aborted'
  | 'invalid'
  | 'closed';

/** A request that failed. The message is always ours: it never holds bytes that the upstream sent (ER-03). */
export class RequestError extends Error {
  readonly kind: RequestErrorKind;

  constructor(kind: RequestErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
