import { readFileSync, statSync } from 'node:fs';
import { PriceListError } from '#price-lists/price-list-error.ts';

/** The list is 2 to 3 MB today. */
const LIST_BYTES_MAX = 32 * 1024 * 1024;
const DOWNLOAD_MS_MAX = 30_000;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Reads a price list from a file, or from an https address; plain http only within this machine, because prices that somebody
 * has changed on their way are money. Throws `PriceListError`.
 */
export async function readList(place: string, options: { readonly downloadMsMax?: number } = {}): Promise<string> {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(place) ? URL.parse(place) : undefined;
  if (url === undefined) return readLocal(place);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (url === null || !isSafe) {
    throw new PriceListError(`\`${place}\` must be a file, or an https address. Plain http is for this machine only.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new PriceListError('The address of the price list must have no user name or password in it.');
  }
  return download(url, options.downloadMsMax ?? DOWNLOAD_MS_MAX);
}

function readLocal(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > LIST_BYTES_MAX) throw tooLarge();
    return readFileSync(file, 'utf8');
  } catch (fault) {
    if (fault instanceof PriceListError) throw fault;
    throw new PriceListError(`The price list \`${file}\` cannot be read. ${wordsOf(fault)}`);
  }
}

/** No redirect is followed: the operator names the address that they trust. The proxies of the environment are used. */
async function download(url: URL, msMax: number): Promise<string> {
  const { EnvHttpProxyAgent, request } = await import('undici'); // No gateway process needs it.
  const agent = new EnvHttpProxyAgent();
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      signal: AbortSignal.timeout(msMax),
      headers: { accept: 'application/json' },
    });
    if (statusCode !== 200) {
      const to = headers['location'];
      const where = statusCode >= 300 && statusCode < 400 && typeof to === 'string' ? ` and points to ${to}` : '';
      throw new PriceListError(`${url.href} answered ${statusCode}${where}. Name the address of the list itself.`);
    }
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of body as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > LIST_BYTES_MAX) throw tooLarge();
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  } catch (fault) {
    if (fault instanceof PriceListError) throw fault;
    const words =
      fault instanceof Error && fault.name === 'TimeoutError'
        ? `No whole answer came within ${msMax / 1000} s.`
        : wordsOf(fault);
    throw new PriceListError(
      `The price list at ${url.href} cannot be read. ${words} You can also download it yourself and name the file.`,
    );
  } finally {
    await agent.destroy();
  }
}

function tooLarge(): PriceListError {
  return new PriceListError(`The price list is larger than ${LIST_BYTES_MAX / 1024 / 1024} MB.`);
}

function wordsOf(fault: unknown): string {
  const { code, message } = fault as { readonly code?: unknown; readonly message?: unknown };
  if (code === 'ENOENT') return 'There is no such file.';
  return typeof code === 'string' ? `(${code})` : `(${String(message)})`;
}
