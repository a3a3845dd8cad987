import { BlockedAddress, type EndpointGuard, literalOf } from '#webhooks/delivery/endpoint-guard.ts';

/**
 * Allows this machine and no other. `purser listen` forwards copies of events to an address that a developer typed. The
 * copies contain real users' data and usually travel over plain HTTP, so they must not leave the machine. Events for
 * another machine go to an endpoint over HTTPS.
 */
export function createLoopbackGuard(): EndpointGuard {
  return {
    mayDial: isLoopback,
    refuse: async (text) => {
      const url = URL.parse(text);
      if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an http or https address';
      if (url.username !== '' || url.password !== '') return 'must have no credentials in it';
      return isThisMachine(url) ? undefined : 'must be on this machine: localhost, 127.0.0.1 or [::1]';
    },
    checkLiteral: (url) => {
      if (!isThisMachine(url)) throw new BlockedAddress();
    },
    lookup: (_hostname, options, callback) => {
      const all = [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 }, // A server may listen on only one of the two.
      ];
      if (options.all === true) callback(null, all);
      else callback(null, '127.0.0.1', 4);
    },
  };
}

/** Whether the URL names this machine, by address or as `localhost`. Other names could resolve elsewhere tomorrow. */
export function isThisMachine(url: URL): boolean {
  const literal = literalOf(url);
  return literal === undefined ? /^(?:.+\.)?localhost$/.test(url.hostname) : isLoopback(literal);
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}
