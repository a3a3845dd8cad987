import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';

const BODY_BYTES_MAX = 65_536;

/** The headers of every answer. Nothing may be loaded from elsewhere, framed or kept. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

const TYPES = {
  html: 'text/html; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};

interface Answer {
  readonly status?: number;
  readonly type: keyof typeof TYPES;
  readonly content: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function setCommonHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}

export function send(response: ServerResponse, { status = 200, type, content, headers = {} }: Answer): void {
  response.writeHead(status, { 'content-type': TYPES[type], ...headers }).end(content);
}

export function sendText(response: ServerResponse, status: number, content: string): void {
  send(response, { status, type: 'text', content });
}

export function redirect(response: ServerResponse, location: string, headers: Readonly<Record<string, string>> = {}) {
  response.writeHead(303, { location, ...headers }).end();
}

/** Sends a file of `public`, which is read once. */
export function sendFile(name: string, type: 'css' | 'js'): (visit: { readonly response: ServerResponse }) => void {
  const content = readFileSync(new URL(`public/${name}`, import.meta.url), 'utf8');
  return ({ response }) => send(response, { type, content });
}

/** Reads the body as it came. Returns undefined if it is too large. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
