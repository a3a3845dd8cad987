// When a caller stops reading, the provider stops too, and the answer does not pile up in between.
import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { watchClientSockets } from '../../../packages/upstream-http/src/testing/client-sockets.ts';
import { chargeFor } from '../../support/catalogue.ts';
import { COMPLETIONS } from '../../support/client.ts';
import { receiptNamed } from '../../support/receipts.ts';
import { frame, streamSteps, type UpstreamStep } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const END_FRAME = 'data: [DONE]\n\n';
/** A 64 KiB part with the frame that completes it, plus what the socket took before without waiting. */
const WAITING_BYTES_MAX = 65_536 + 1_024 + 16_384;
const BALANCE = 1_000_000_000;
const USAGE = { prompt_tokens: 9, completion_tokens: 400_000, total_tokens: 400_009 };

const { upstream, service, app, newUser } = await setStage({
  model: { contextTokens: 1_000_000, maxOutputTokens: 600_000, timeoutMs: 60_000 },
});

const [role, ...rest] = streamSteps({ model: 'm', pieces: [], usage: USAGE, includeUsageChunk: true });

/** Steps that write the given number of frames of this size, and how many bytes of them have been written so far. */
function flood(frames: number, content: string) {
  const text = frame({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  const begun = { bytes: 0 };
  const step = {
    get write() {
      begun.bytes += text.length;
      return text;
    },
  };
  const steps: readonly UpstreamStep[] = [role ?? step, ...Array.from({ length: frames }, () => step), ...rest];
  return { steps, begun, bytes: frames * text.length };
}

/** The service's side of a user's answers: how many bytes wait in this process to be read. */
function watchAnswers(user: string): { readonly waitingMax: () => number; readonly stop: () => void } {
  const answers: ServerResponse[] = [];
  let most = 0;
  const look = (): void => {
    for (const answer of answers) most = Math.max(most, answer.writableLength);
  };
  const timer = setInterval(look, 5);
  const onStart = (message: unknown): void => {
    const { request: incoming, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (incoming.headers['x-service-user'] === user) answers.push(response);
  };
  diagnostics.subscribe('http.server.request.start', onStart);
  return {
    waitingMax: () => {
      look();
      return most;
    },
    stop: () => {
      clearInterval(timer);
      diagnostics.unsubscribe('http.server.request.start', onStart);
    },
  };
}

/** Sends a streamed call and returns its response with nothing read yet. */
function callAsleep(user: string): Promise<IncomingMessage> {
  const sent = request(service.url + COMPLETIONS, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${app.liveKey}`,
      'x-service-user': user,
      'x-correlation-id': user,
      'content-type': 'application/json',
    },
  });
  sent.end(JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: true }));
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
  });
}

/** Waits until the service reads no more of the provider, and nothing more has been written for a while. */
async function standstill(begun: { readonly bytes: number }, clients: readonly Socket[]): Promise<number> {
  await waitUntil('the service has stopped reading', () => clients.some((client) => client.isPaused()));
  for (;;) {
    const before = begun.bytes;
    await pause(500);
    if (begun.bytes === before) return before;
  }
}

/** Reads an answer to its end. Returns its length and how it ended. */
async function readAll(response: IncomingMessage): Promise<{ readonly bytes: number; readonly tail: string }> {
  let bytes = 0;
  let tail = '';
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    tail = (tail + part.toString('latin1')).slice(-END_FRAME.length);
  }
  return { bytes, tail };
}

interface Flood {
  readonly what: string;
  readonly content: string;
  readonly frames: number;
}

const FLOODS: readonly Flood[] = [
  // More than twice what the kernel buffers on the way.
  { what: 'large', content: 'x'.repeat(65_536), frames: 1_000 },
  // Each chunk grows on its way through the service because it arrives without a head of its own.
  { what: 'small', content: 'x', frames: 100_000 },
];

for (const { what, content, frames } of FLOODS) {
  test(`CC-11 a stalled reader of ${what} chunks stops the provider`, async (t) => {
    const { steps, begun, bytes } = flood(frames, content);
    upstream.script({ body: steps });
    const user = await newUser(BALANCE);
    const answers = watchAnswers(user);
    const clients = watchClientSockets(t);
    t.after(answers.stop);
    const response = await callAsleep(user);
    const written = await standstill(begun, clients);
    if (what === 'large') assert.ok(written < bytes / 2, `the provider wrote ${written} of ${bytes} bytes`);
    const { bytes: read, tail } = await readAll(response);
    assert.equal(begun.bytes, bytes);
    assert.equal(tail, END_FRAME);
    assert.ok(read > bytes);
    const waited = answers.waitingMax();
    assert.ok(waited > 16_384 && waited <= WAITING_BYTES_MAX, `${waited} bytes waited for the reader`);
    t.diagnostic(
      `${written} of ${bytes} bytes written while the reader slept; ${waited} at most waited in the service`,
    );
    const receipt = await waitUntil('it is settled', () => receiptNamed(service.database, user));
    assert.equal(receipt.charged, chargeFor({ prompt: 9, completion: 400_000 }));
    assert.equal((await service.wallet(app, user)).held, 0);
  });
}
