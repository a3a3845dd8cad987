import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/** The channels on which the HTTP server and the HTTP clients of this process report what they begin. */
const SERVED = 'http.server.request.start';
const SENT = 'undici:request:create';
/** The channel on which the client for providers reports. */
const SENT_TO_PROVIDER = 'purser.upstream.request';

/**
 * Follows each request with a test key that a server of this process gets, through everything it awaits, and records what
 * is sent on its behalf (SB-03). A provider can only be reached by sending, so this proves its absence without a provider.
 */
export function watchSandbox() {
  const served = new AsyncLocalStorage<string>();
  const sent: string[] = [];

  const onServed = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    const isTestKey = /\bsvc_test_/.test(request.headers.authorization ?? '');
    // Later requests on the same connection also begin here, so this is set for every request.
    served.enterWith(isTestKey ? `${request.method} ${request.url}` : '');
  };
  const note = (url: string): void => {
    const cause = served.getStore() ?? '';
    if (cause !== '') sent.push(`${cause} sent ${url}`);
  };
  const onSent = (message: unknown): void => {
    const { request } = message as { request: { origin?: unknown; path?: unknown } };
    note(`${String(request.origin)}${String(request.path)}`);
  };
  const onSentToProvider = (message: unknown): void => note((message as { url: string }).url);

  subscribe(SERVED, onServed);
  subscribe(SENT, onSent);
  subscribe(SENT_TO_PROVIDER, onSentToProvider);
  return {
    /** Fails if a test key's request made a gateway of this process send a request of its own, to any receiver. */
    assertNothingSent: () => assert.deepEqual(sent, [], 'SB-03 a sandbox call has sent something'),
    stop: () => {
      unsubscribe(SERVED, onServed);
      unsubscribe(SENT, onSent);
      unsubscribe(SENT_TO_PROVIDER, onSentToProvider);
    },
  };
}
