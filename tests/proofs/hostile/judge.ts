import { replyOf } from '../../support/client.ts';
import { assertRefusal, type Code } from '../../support/refusal.ts';
import type { RawAnswer } from './answers.ts';
import type { HostileRequest } from './requests.ts';
import type { Heard } from './send-hostile.ts';

const CORRELATION_ID = /^[A-Za-z0-9._:-]{1,128}$/;
const BODY_BYTES_MAX = 1_048_576;
const ASKS_FOR_PAGE = /^GET \/\?\S* HTTP\/1/m;
/** The last frame of a stream that was charged, by each wire. */
const END_OF_STREAM =
  /data: \[DONE\]\n\n$|event: (?:response\.(?:completed|incomplete)|message_stop)\ndata: [^\n]*\n\n(?:: [^\n]*\n\n)?$/;

/** What is wrong with the answers; empty if nothing is. */
export function judge(request: HostileRequest, heard: Heard): readonly string[] {
  const wrong: string[] = [];
  if (heard.stuck !== undefined) wrong.push(heard.stuck);
  for (const [index, answer] of heard.answers.entries())
    wrong.push(...faultsOf(request, answer, request.methods[index]));
  if (request.ending === 'answered' && !mayBeReset(request)) wrong.push(...faultsOfEnding(request, heard));
  return wrong;
}

/** If the connection is closed while the caller still sends, a reset may reach the caller before it has read its answer. */
function mayBeReset({ kind, bytes }: HostileRequest): boolean {
  return kind === 'pipelined' || bytes.length > BODY_BYTES_MAX;
}

/** Every request has its answer. If there are fewer, the last answer said that the connection ends. */
function faultsOfEnding({ methods }: HostileRequest, { answers, rest }: Heard): readonly string[] {
  const last = answers.at(-1);
  // A malformed HEAD counts as no method: its answer has a body, and the connection ends with it.
  const isHeadUnread = last?.status === 400 && methods[answers.length - 1] === 'HEAD';
  if (rest.length > 0 && !isHeadUnread) return [`half an answer: ${rest.toString('latin1', 0, 500)}`];
  if (last === undefined) return ['the connection was closed without an answer'];
  if (answers.length === methods.length) return [];
  return last.headers.get('connection') === 'close' ? [] : ['the connection was closed without notice'];
}

function faultsOf(request: HostileRequest, answer: RawAnswer, method: string | undefined): readonly string[] {
  const { status, headers, body } = answer;
  const text = body.toString('utf8');
  const about = `${status} ${text.slice(0, 500)}`;
  const wrong: string[] = [];
  const id = headers.get('x-correlation-id') ?? '';
  if (!CORRELATION_ID.test(id)) wrong.push(`no correlation id: ${about}`);
  if (request.correlationId !== undefined && id !== request.correlationId) wrong.push(`not the caller's id: ${id}`);
  if (status >= 500) wrong.push(`an error of ours: ${about}`);
  if (status >= 300 && status < 400) wrong.push(`neither an answer nor a refusal: ${about}`);
  if (status >= 400 && method !== 'HEAD')
    wrong.push(...(isRefusedPage(request, answer) ? [] : faultsOfRefusal(answer, text)));
  const isCutStream = headers.get('content-type')?.startsWith('text/event-stream') && !END_OF_STREAM.test(text);
  if (isCutStream && request.ending === 'answered') wrong.push(`a stream without its end: ${about}`);
  return wrong;
}

/** `/` is a page, so it refuses like one: in words, with the policy that every page has. All other routes of a fuzz are of APIs. */
function isRefusedPage({ bytes }: HostileRequest, { status, headers, body }: RawAnswer): boolean {
  const isPage = headers.get('content-type') === 'text/html; charset=utf-8' && headers.has('content-security-policy');
  return status === 400 && isPage && ASKS_FOR_PAGE.test(bytes.toString('latin1')) && body.includes('<h1>');
}

function faultsOfRefusal({ status, headers }: RawAnswer, text: string): readonly string[] {
  try {
    const reply = replyOf({ status, headers: new Headers([...headers]) }, text);
    const { code } = reply.error;
    // A 402 may be retried if the money is only on hold. Its headers alone say so, with a time (WA-13).
    assertRefusal(reply, { code: code as Code, isPassing: status === 402 && headers.get('x-should-retry') === 'true' });
    return [];
  } catch (fault) {
    return [`not the envelope: ${status} ${text.slice(0, 500)} ${fault instanceof Error ? fault.message : ''}`];
  }
}
