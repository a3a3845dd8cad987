// What a server of the Gemini wire sends for a request: a refusal, an answer or a stream. It shares nothing with the adapter.
import { randomBytes } from 'node:crypto';
import type { UpstreamScript, UpstreamStep } from '../../../support/scripted-upstream.ts';
import { findFault } from './check-request.ts';
import {
  FAILURES,
  type GeminiAnswer,
  type GeminiFailure,
  type GoogleError,
  invalidArgument,
  type Json,
  type Part,
  type UsageMetadata,
} from './wire.ts';

export interface GeminiOptions {
  /** The only API key that it takes. */
  readonly apiKey?: string;
  /**
   * For Vertex, the project and location that it serves, and whether it takes this bearer token now. Without it, the
   * server is the Gemini API.
   */
  readonly vertex?: {
    readonly project: string;
    readonly location: string;
    readonly takesToken: (token: string) => boolean;
  };
}

interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}

/** What a model says to a valid request. */
export type Model = (body: Json, model: string) => GeminiAnswer | GeminiFailure;

const PATH = /^(.*)\/models\/([^/:]+):(generateContent|streamGenerateContent)(\?alt=sse)?$/;

export function createGeminiWire({ apiKey, vertex }: GeminiOptions) {
  /** The signatures that it gave. It takes no others back. */
  const signatures = new Set<string>();
  const isSigned = (signature: string): boolean => signatures.has(signature);
  const isVertex = vertex !== undefined;
  const prefix = isVertex ? `/v1/projects/${vertex.project}/locations/${vertex.location}/publishers/google` : '/v1beta';

  const strangerIn = (headers: WireRequest['headers']): GoogleError | undefined => {
    if (isVertex) {
      const [, token = ''] = /^Bearer (\S+)$/.exec(String(headers['authorization'])) ?? [];
      return vertex.takesToken(token) ? undefined : FAILURES.tokenRefused;
    }
    if (headers['x-goog-api-key'] === undefined) return FAILURES.keyMissing;
    return headers['x-goog-api-key'] === apiKey ? undefined : FAILURES.keyInvalid;
  };

  return {
    respond: ({ method, path, headers, body }: WireRequest, say: Model) => {
      const [, begin, model = '', action, sse] = PATH.exec(path) ?? [];
      const isStream = action === 'streamGenerateContent';
      const refused = (error: GoogleError, more = {}): UpstreamScript => refusal(error, more, isStream && isVertex);
      if (method !== 'POST' || begin !== prefix) return refused(FAILURES.notFound);
      const fault = strangerIn(headers) ?? findFault(body, { model, isVertex, isSigned });
      if (fault !== undefined) return refused(fault);
      if (isStream && sse === undefined) return refused(invalidArgument('alt is not sse'));
      const said = say(body as Json, model);
      if ('error' in said) return refused(said.error, said.headers);
      const answer = model.startsWith('gemini-3') ? sign(said, signatures) : said;
      if (isStream) return { headers: { 'content-type': 'text/event-stream' }, body: streamed(answer, model) };
      const whole = messageOf({ finishReason: 'STOP', ...answer }, model);
      return { headers: { 'content-type': JSON_TYPE }, body: JSON.stringify(whole, null, 2) };
    },
  };
}

const JSON_TYPE = 'application/json; charset=UTF-8';

/** Makes a refusal. Vertex refuses a stream by a list of one error. */
function refusal(error: GoogleError, headers: Readonly<Record<string, string>>, isList: boolean): UpstreamScript {
  const body = JSON.stringify(isList ? [{ error }] : { error }, null, 2);
  return { status: error.code, headers: { 'content-type': JSON_TYPE, ...headers }, body };
}

/** Signs the first function call, or else the last text: that is where Gemini 3 puts its signature. */
function sign(answer: GeminiAnswer, signatures: Set<string>): GeminiAnswer {
  const { parts = [] } = answer;
  const called = parts.findIndex((part) => part['functionCall'] !== undefined);
  const place = called === -1 ? parts.length - 1 : called;
  const thoughtSignature = randomBytes(24).toString('base64');
  signatures.add(thoughtSignature);
  return { ...answer, parts: parts.map((part, index) => (index === place ? { ...part, thoughtSignature } : part)) };
}

interface Emitted {
  readonly parts?: readonly Part[];
  readonly finishReason?: string | null | undefined;
  readonly usage?: UsageMetadata | undefined;
  readonly blockReason?: string | undefined;
  readonly continuationToken?: string | undefined;
}

function messageOf({ parts, finishReason, usage, blockReason, continuationToken }: Emitted, model: string): Json {
  const reason = typeof finishReason === 'string' ? { finishReason, continuationToken } : {};
  const content = parts === undefined || parts.length === 0 ? {} : { content: { parts, role: 'model' } };
  return {
    ...(blockReason === undefined
      ? { candidates: [{ ...content, ...reason, index: 0 }] }
      : { promptFeedback: { blockReason } }),
    ...(usage && { usageMetadata: usage }),
    modelVersion: model,
    responseId: 'mtEjab7kFJ-8xs0Pu',
  };
}

/** A part a chunk, texts in two pieces. Each chunk has the usage so far: prompt and thoughts from the first one on. */
function streamed(answer: GeminiAnswer, model: string): readonly UpstreamStep[] {
  const { parts = [], usage, breakBy, finishReason = 'STOP', ...end } = answer;
  const begun = usage && usageSoFar(usage);
  const pieces = parts.flatMap(piecesOf);
  const last = breakBy === undefined ? pieces.splice(-1) : [];
  const steps: UpstreamStep[] = pieces.map((piece) => event(messageOf({ parts: [piece], usage: begun }, model)));
  if (breakBy === 'end') return steps;
  if (breakBy === 'reset') return [...steps, { destroy: true }];
  if (breakBy !== undefined) return [...steps, event({ error: breakBy })];
  return [...steps, event(messageOf({ ...end, parts: last, finishReason, usage }, model))];
}

function event(message: unknown): UpstreamStep {
  return { write: `data: ${JSON.stringify(message)}\r\n\r\n` };
}

function usageSoFar({ candidatesTokenCount = 0, candidatesTokensDetails: _, ...usage }: UsageMetadata): UsageMetadata {
  return { ...usage, totalTokenCount: (usage.totalTokenCount ?? 0) - candidatesTokenCount };
}

function piecesOf(part: Part): Part[] {
  const { text } = part;
  if (typeof text !== 'string' || text.length < 2) return [part];
  const { thoughtSignature, ...unsigned } = part;
  const half = Math.ceil(text.length / 2);
  const pieces: Part[] = [text.slice(0, half), text.slice(half)].map((piece) => ({ ...unsigned, text: piece }));
  // Gemini 3 signs a text by an empty part after it.
  return thoughtSignature === undefined ? pieces : [...pieces, { text: '', thoughtSignature }];
}
