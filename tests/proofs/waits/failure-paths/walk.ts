import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { createGate } from '../../../support/gate.ts';
import { type OpenChat, openChat } from '../../../support/open-chat.ts';
import type { PromptScripts } from './prompt-scripts.ts';
import type { RecordedRequest, UpstreamScript, UpstreamStep } from '../../../support/scripted-upstream.ts';
import type { Stage } from '../../../support/stage.ts';
import { soon, waitUntil } from '../../../support/wait-until.ts';
import { isSpoken } from '../../../support/wires.ts';
import {
  assertAnswer,
  assertHeld,
  assertNextCall,
  assertProviderSide,
  assertReceipt,
  BALANCE,
  LIMIT,
  type Walk,
} from './at-its-end.ts';
import { answerBy, type CallerPart } from './path.ts';

/** This is long enough for a provider to fill all buffers before a slow caller reads on. No result depends on it. */
const STALL_MS = 200;
/** The gateway runs in this process. After this many turns of the shared event loop it knows that its caller has left. */
const TURNS_TO_NOTICE = 50;

/** Takes a fresh user down the path once and checks everything that must be true at its end. */
export async function walk(
  stage: Stage,
  scripts: PromptScripts,
  way: Pick<Walk, 'path' | 'kind' | 'wire'>,
): Promise<void> {
  const { path } = way;
  const user = await stage.newUser(BALANCE);
  const body = JSON.stringify({ messages: [{ role: 'user', content: user }] });
  const walked: Walk = { stage, scripts, ...way, user, body };
  const request = await run(walked);
  if (path.ends.outcome !== 'none') await assertReceipt(walked);
  if (request !== undefined) await assertProviderSide(walked, request);
  await assertNextCall(walked);
}

function sentBy({ wire, kind, user, path: { model = 'large' } }: Walk): string {
  const limit = isSpoken(wire) ? { [wire.limitField]: LIMIT } : {};
  const stream = isSpoken(wire) && kind === 'streamed' ? wire.streamed : {};
  return JSON.stringify({ model: wire.modelId.replace('large', model), ...wire.promptOf(user), ...limit, ...stream });
}

/** Plays both parts to the end of the caller's connection. Returns the provider's side, if the call gets there. */
async function run(walked: Walk): Promise<RecordedRequest | undefined> {
  const { stage, scripts, path, user, wire } = walked;
  const { caller = {}, provider } = path;
  const { isHalfSent = false } = caller;
  const gate = createGate();
  const script = typeof provider === 'function' ? provider(answerBy(wire), gate.opened) : provider;
  const arrival = scripts.expect(user, script);
  const { url } = stage.service;
  const options = { path: wire.path, url, key: stage.app.liveKey, user, body: sentBy(walked), correlationId: user };
  const chat = openChat({ ...options, missingBytes: isHalfSent ? 10 : 0 });
  chat.head.catch(() => {}); // Nothing awaits it if the caller leaves first.
  const request = isHalfSent || path.model === 'closed' ? undefined : await arrival;
  if (isHalfSent) await waitUntil('the service has the connection', chat.isConnected);
  await play(chat, caller);
  if (waitsForCaller(script)) await assertHeld(walked);
  gate.open();
  await soon('the connection of the caller is over', chat.closed);
  if (!caller.leaves) await assertAnswer(walked, chat);
  return request;
}

function waitsForCaller({ body }: UpstreamScript): boolean {
  return Array.isArray(body) && (body as readonly UpstreamStep[]).some((step) => 'waitFor' in step);
}

async function play(chat: OpenChat, { reads, stalls, leaves }: CallerPart): Promise<void> {
  if (reads !== undefined) await chat.read(reads);
  if (stalls) {
    const head = await chat.head;
    head.pause();
    await pause(STALL_MS);
    if (!leaves) head.resume();
  }
  if (!leaves) return;
  chat.leave();
  await chat.closed;
  for (let turn = 0; turn < TURNS_TO_NOTICE; turn += 1) await nextTurn();
}
