import {
  completionBody,
  frame,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
  type UpstreamScript,
  type UpstreamStep,
} from '../../support/scripted-upstream.ts';
import type { ProviderFacts, ReportedUsage } from './history-log.ts';
import type { AnswerPlan } from './plan.ts';

/** The provider of a history. It answers each call by its plan and records the requests. */
export type Provider = Awaited<ReturnType<typeof startProvider>>;

/** The answer to a probe: nothing generated, nothing to pay. */
export const FREE_ANSWER: AnswerPlan = {
  kind: 'full',
  status: 200,
  waitMs: 0,
  pieces: ['x'],
  usage: 'zero',
  promptTokens: 0,
  cachedTokens: 0,
  completionShare: 0,
  fillerBytes: 0,
};

export async function startProvider() {
  const upstream: ScriptedUpstream = await startScriptedUpstream();
  const plans = new Map<string, AnswerPlan>();
  const facts = new Map<string, ProviderFacts>();
  upstream.script(({ body }) => {
    const { input, messages, max_completion_tokens: limit = 0, model, stream } = body as AskedBody;
    const tag = input ?? messages?.[0].content ?? '';
    const plan = plans.get(tag);
    if (plan === undefined) return { status: 500, body: '{}' }; // No client sent this call, so the model will find no call for it.
    const usage = input === undefined ? usageOf(plan, limit) : usageOfVectors(plan);
    facts.set(tag, {
      asked: (facts.get(tag)?.asked ?? 0) + 1,
      isAnswering: plan.kind === 'full',
      usage,
      contentBytes: plan.pieces.join('').length,
    });
    return scriptOf(plan, {
      model,
      isVectors: input !== undefined,
      isStream: stream === true,
      usage: usage && wireUsage(usage),
    });
  });
  return {
    baseUrl: upstream.baseUrl,
    facts,
    /** Tells it how to answer a call, before that call is sent. */
    expect: (tag: string, answer: AnswerPlan) => void plans.set(tag, answer),
    close: () => upstream.close().catch(passOverCuts),
  };
}

/** If a gateway is killed while it gets an answer, the provider is not at fault. */
function passOverCuts(fault: unknown): void {
  const isCut = fault instanceof Error && 'code' in fault && (fault.code === 'ECONNRESET' || fault.code === 'EPIPE');
  if (!isCut) throw fault;
}

interface AskedBody {
  /** That of a call for embeddings. */
  readonly input?: string;
  readonly messages?: readonly [{ readonly content: string }];
  readonly max_completion_tokens?: number;
  readonly model: string;
  readonly stream?: boolean;
}

function usageOf(plan: AnswerPlan, limit: number): ReportedUsage | undefined {
  if (plan.usage === 'none') return undefined;
  if (plan.usage === 'zero') return { prompt: 0, cached: 0, completion: 0 };
  const completion = plan.usage === 'overrun' ? limit + 1_000 : Math.floor(plan.completionShare * limit);
  return { prompt: plan.promptTokens, cached: plan.cachedTokens, completion };
}

/** A count of nothing is none: no text has no tokens. */
function usageOfVectors({ usage, promptTokens }: AnswerPlan): ReportedUsage | undefined {
  const isTold = usage !== 'none' && usage !== 'zero' && promptTokens > 0;
  return isTold ? { prompt: promptTokens, cached: 0, completion: 0 } : undefined;
}

function wireUsage({ prompt, cached, completion }: ReportedUsage) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

interface Answer {
  readonly model: string;
  readonly isStream: boolean;
  readonly isVectors: boolean;
  readonly usage: object | undefined;
}

function scriptOf(plan: AnswerPlan, { model, isStream, isVectors, usage }: Answer): UpstreamScript {
  const wait: UpstreamStep = { waitMs: plan.waitMs };
  if (plan.kind === 'status') return { status: plan.status, body: [wait, { write: '{"error":{"message":"no"}}' }] };
  if (!isStream) {
    const headers = { 'content-type': 'application/json' };
    const body = isVectors
      ? JSON.stringify({ object: 'list', data: [{ index: 0, embedding: [0.5] }], usage })
      : completionBody({ model, content: plan.pieces.join(''), usage });
    if (plan.kind === 'full') return { headers, body: [wait, { write: body }] };
    return { headers, body: [wait, { write: '' }, ...faultOf(plan.kind, body)] };
  }
  const whole: UpstreamStep[] = plan.fillerBytes === 0 ? [] : [{ write: fillerFrame(model, plan.fillerBytes) }];
  for (const step of streamSteps({ model, pieces: plan.pieces, usage, includeUsageChunk: usage !== undefined })) {
    whole.push(step, { waitMs: Math.floor(plan.waitMs / 4) });
  }
  if (plan.kind === 'full') return { body: [wait, ...whole] };
  // Broken off at a random point in the content, before any usage was sent.
  const begun = whole.slice(0, 2 * Math.floor(plan.completionShare * (plan.pieces.length + 1)));
  return { body: [wait, ...begun, ...faultOf(plan.kind, frame('{"broken'))] };
}

/** A chunk whose choice says nothing, with many bytes that no model has generated. */
function fillerFrame(model: string, bytes: number): string {
  const choices = [{ index: 0, delta: { content: '' }, finish_reason: null }];
  return frame({ object: 'chat.completion.chunk', model, choices, system_fingerprint: 'f'.repeat(bytes) });
}

function faultOf(kind: 'cut' | 'garbage' | 'silence', text: string): readonly UpstreamStep[] {
  if (kind === 'cut') return [{ write: text.slice(0, 5) }, { destroy: true }];
  if (kind === 'silence') return [{ hang: true }];
  return [{ write: `${text.slice(0, 9)}\n\n` }];
}
