import { isIP, connect as connectPlain, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** The most that one read of a socket takes. */
const READ_BYTES = 64 * 1024;
/**
 * All connections read into this memory, one after another. Each read is handled before the next one begins, so nothing
 * may keep a slice of it. Code that needs bytes later must copy them.
 */
const READ_MEMORY = Buffer.allocUnsafeSlow(READ_BYTES);

interface SocketOptions {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
  /** An earlier TLS session with this host. */
  readonly session?: Buffer | undefined;
  readonly onRead: (bytes: Buffer) => void;
}

/** Opens a socket to an address. */
export function openSocket(options: SocketOptions): Socket {
  const { isTls, host, port } = options;
  if (!isTls) return connectPlain({ host, port, onread: onreadOf(options) });
  // `onread` is an option of TLS sockets too, though their types do not say so.
  const onread = { onread: onreadOf(options) };
  return connectTls({ ...secureOptions(options), ...onread, port });
}

/** Begins TLS on a socket that is a tunnel to the address. Node knows no `onread` here, so each read has memory of its own. */
export function secureSocket(tunnel: Socket, options: SocketOptions): Socket {
  return connectTls({ ...secureOptions(options), socket: tunnel }).on('data', options.onRead);
}

function secureOptions({ host, session }: SocketOptions): ConnectionOptions {
  const common = { host, ALPNProtocols: ['http/1.1'], ...(session && { session }) };
  // SNI takes names only. Node checks the certificate against the address if there is no name.
  return isIP(host) === 0 ? { ...common, servername: host } : common;
}

/** Uses `onread`, which bypasses Node's streams, because those allocate new memory for each read. */
function onreadOf({ onRead }: SocketOptions): OnReadOpts {
  const callback = (bytes: number): true => {
    onRead(READ_MEMORY.subarray(0, bytes));
    return true;
  };
  return { buffer: READ_MEMORY, callback };
}
