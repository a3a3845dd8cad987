const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Where a page moves to that was opened under another name of the developer's own machine, such as `localhost` for
 * `127.0.0.1`. Cookies belong to one name: a link in a mail has the public one and would find nobody signed in. Undefined if
 * the page may stay. `host` is untrusted, and the answer never contains it.
 */
export function usualOrigin(publicUrl: string, host: string | undefined): string | undefined {
  const usual = new URL(publicUrl);
  const opened = URL.parse(`${usual.protocol}//${host}`);
  if (opened === null || opened.hostname === usual.hostname || opened.port !== usual.port) return undefined;
  return LOOPBACK.has(usual.hostname) && LOOPBACK.has(opened.hostname) ? usual.origin : undefined;
}
