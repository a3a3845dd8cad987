import net from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = /^content-length: *(\d+)/im;

/** A connection that is kept open and carries one plain call at a time. */
export interface Connection {
  /** Resolves to whether the answer was a 200 with the expected text. */
  readonly call: (request: Buffer) => Promise<boolean>;
  readonly close: () => void;
}

/** Puts as little as possible between the generator and the wire, so an answer must tell its length. */
export function openConnection(url: URL, expected: string): Connection {
  const socket = net.connect({ host: url.hostname, port: Number(url.port) });
  let received: Buffer = Buffer.alloc(0);
  let waiting: { readonly resolve: (isRight: boolean) => void } | undefined;
  const end = (isRight: boolean) => {
    const caller = waiting;
    waiting = undefined;
    received = Buffer.alloc(0);
    caller?.resolve(isRight);
  };
  socket.setNoDelay(true);
  socket.on('data', (part: Buffer) => {
    received = received.length === 0 ? part : Buffer.concat([received, part]);
    const head = received.indexOf(HEAD_END);
    if (head < 0) return;
    const size = LENGTH.exec(received.toString('latin1', 0, head))?.[1];
    if (size === undefined) return end(false);
    if (received.length < head + HEAD_END.length + Number(size)) return;
    end(received.toString('latin1', 0, 12) === 'HTTP/1.1 200' && received.includes(expected));
  });
  socket.on('error', () => {});
  socket.on('close', () => end(false));
  return {
    call: (request) => {
      if (socket.closed || socket.destroyed) return Promise.resolve(false);
      return new Promise((resolve) => {
        waiting = { resolve };
        socket.write(request);
      });
    },
    close: () => socket.destroy(),
  };
}
