import type { IncomingHttpHeaders } from 'node:http';

/** Coding agents that name their sessions, as they call themselves in their user agent. */
const CLIENTS = { 'claude-code': /^claude-cli\//, codex: /^codex[_-]/, opencode: /\bopencode\// } as const;
export type CodingAgent = keyof typeof CLIENTS;
export const CODING_AGENTS: Readonly<Record<CodingAgent, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
};

/** The session that a coding agent names with its calls (CP-19). It says nothing of what is in it, and nothing is charged by it. */
export interface CallSession {
  readonly name: string;
  /** Which coding agent it is. Undefined if its user agent is not a known one. */
  readonly client: CodingAgent | undefined;
  /** The wire by which the call came. */
  readonly wire: string;
}

/** The headers of Claude Code, Codex and opencode, in this order. */
const HEADERS = ['x-claude-code-session-id', 'session-id', 'x-session-id'] as const;
const NAME = /^[\x21-\x7e]{1,128}$/;

/** Reads the session of a call. What is no name is ignored, like a header that nobody reads. */
export function sessionOf(headers: IncomingHttpHeaders, wire: string): CallSession | undefined {
  for (const header of HEADERS) {
    const name = headers[header];
    if (typeof name === 'string' && NAME.test(name)) return { name, client: clientOf(headers['user-agent']), wire };
  }
  return undefined;
}

export function isSessionName(text: string): boolean {
  return NAME.test(text);
}

function clientOf(userAgent = ''): CodingAgent | undefined {
  return (Object.keys(CLIENTS) as CodingAgent[]).find((client) => CLIENTS[client].test(userAgent));
}

/** Reads a client that was written down before. Undefined if this build does not know it. */
export function codingAgentOf(text: unknown): CodingAgent | undefined {
  return typeof text === 'string' && Object.hasOwn(CLIENTS, text) ? (text as CodingAgent) : undefined;
}
