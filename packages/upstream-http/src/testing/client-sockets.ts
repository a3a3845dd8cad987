import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';

const OPENED = 'net.client.socket'; // Node publishes each socket here, with TLS or without.

/** Returns a list to which every connection is added that this process opens until the test ends: the client's side of it. */
export function watchClientSockets(t: TestContext): readonly Socket[] {
  const sockets: Socket[] = [];
  const onOpen = (message: unknown): void => void sockets.push((message as { readonly socket: Socket }).socket);
  subscribe(OPENED, onOpen);
  t.after(() => unsubscribe(OPENED, onOpen));
  return sockets;
}
