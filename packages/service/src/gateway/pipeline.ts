import type { IncomingMessage } from 'node:http';
import type { Caller, KeyDirectory } from '#developers/keys/directory.ts';
import type { Idempotency } from '#idempotency/idempotency.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import { parseUser } from '#gateway/request/admission.ts';
import { checkContext } from '#gateway/request/context-bound.ts';
import type { Answer } from '#gateway/answer/answer.ts';
import {
  callOf,
  checkEntitlement,
  checkModelParameters,
  checkModelsOfKey,
  findEligible,
  parseIdempotencyKey,
  resolveModel,
  type RetryMarks,
} from '#gateway/request/validate-call.ts';
import { checkModelOfWire, findOutcomeModel } from '#gateway/request/check-model.ts';
import { withCallersName } from '#gateway/request/callers-name.ts';
import type { AskingCall, Drains, Gone, StreamPace, Rejections } from '#gateway/call/call.ts';
import type { CallNotes } from '#gateway/call/call-notes.ts';
import type { BeginSpan } from '#gateway/call/call-span.ts';
import type { Lane } from '#gateway/call/lane.ts';
import type { Wire } from '#gateway/call/wire.ts';
import { parseBody } from '#gateway/body/parse-body.ts';
import { supportOf } from '#gateway/request/model-support.ts';
import type { Pseudonyms } from '#gateway/request/pseudonyms.ts';
import type { Upstreams } from '#gateway/upstream/upstreams.ts';
import { runInLane } from '#gateway/run-in-lane.ts';
import type { CorrelationId } from '#kernel/values/ids.ts';
import type { Log } from '#kernel/log.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { RateLimiter } from '#limits/rate-limit.ts';

/** Everything that a call uses on its way. Made once, at start. */
export interface Gateway {
  /** How callers may speak. */
  readonly wires: readonly Wire[];
  readonly keys: KeyDirectory;
  readonly rateLimiter: RateLimiter;
  /** The address that a request came from, past the operator's own proxies. */
  readonly addressOf: (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;
  readonly catalogue: Catalogue;
  readonly pseudonyms: Pseudonyms;
  readonly lanes: { readonly live: Lane<'live'>; readonly sandbox: Lane<'sandbox'> };
  readonly log: Log;
  readonly drains: Drains;
  readonly pace: StreamPace;
  readonly idempotency: Idempotency;
  readonly rejections: Rejections;
  readonly upstreams: Pick<Upstreams, 'inOrder'>;
  /** Whether what calls of a session cost is kept (CP-19). */
  readonly keepsSessions: boolean;
  /** Begins the span of a call. It is undefined if no traces are exported. */
  readonly beginSpan: BeginSpan | undefined;
}

interface Incoming {
  readonly wire: Pick<Wire, 'name' | 'read'>;
  readonly caller: Caller;
  readonly user: string | undefined;
  readonly userAgent: string | undefined;
  /** The headers of Messages. */
  readonly version?: string | undefined;
  readonly betas?: string | undefined;
  readonly retry: RetryMarks;
  readonly correlationId: CorrelationId;
  /** The whole body, within its size limit. */
  readonly bytes: Buffer;
  readonly gone: Gone;
  readonly notes: CallNotes;
}

type Completed = Answer | Refusal | Promise<Answer | Refusal>;

/**
 * Takes one call from bytes to answer, by any wire. Each line may refuse, and their order is part of the contract
 * (CC-10, `docs/ARCHITECTURE.md`). `admit` comes first, before the body is read. A call refused here never reached a provider and
 * left no hold (CC-08). It makes no promise but the lane's: each costs a call more than the checks do.
 */
export function completeCall(gateway: Gateway, incoming: Incoming): Completed {
  const { caller, gone, notes } = incoming;
  const asking = prepareCall(gateway, incoming);
  if (asking instanceof Refusal) return asking;
  notes.callId = asking.call.callId;
  const { log, drains, pace, idempotency, rejections } = gateway;
  const callerSide = { gone, notes, log, drains, pace, idempotency, rejections };

  // The only fork between real and play money in the program. From here on, types keep the two apart.
  switch (caller.mode) {
    case 'live':
      return runInLane(gateway.lanes.live, asking, callerSide);
    case 'sandbox':
      return runInLane(gateway.lanes.sandbox, asking, callerSide);
  }
}

interface CountedPrompt {
  readonly tokens: number;
  /** It is our own estimate, because no vendor has counted. */
  readonly isEstimated: boolean;
}

/** Counts the prompt of a call that is not made. It costs nothing, and is refused for what the call would be. */
export async function countPrompt(gateway: Gateway, incoming: Incoming): Promise<CountedPrompt | Refusal> {
  const asking = prepareCall(gateway, incoming);
  if (asking instanceof Refusal) return asking;
  const counted = await gateway.lanes[incoming.caller.mode].countPrompt?.(asking);
  return { tokens: counted ?? asking.call.prompt.tokensEstimated, isEstimated: counted === undefined };
}

/** The checks of a call, up to those that need its wallet. */
function prepareCall(gateway: Gateway, incoming: Incoming): AskingCall | Refusal {
  const { wire, caller, correlationId, bytes, notes, userAgent, version, betas } = incoming;
  const { appId } = caller.app;
  const userId = parseUser(caller, incoming.user);
  if (userId instanceof Refusal) return userId;
  notes.userId = userId;

  const body = parseBody(incoming.bytes);
  if (body instanceof Refusal) return body;
  const asking = wire.read(body, { appId, userId, mode: caller.mode, userAgent, version, betas });
  if (asking instanceof Refusal) return asking;
  const { isStream, model: name } = asking;
  notes.isStream = isStream;

  const outcome = findOutcomeModel(gateway.catalogue, caller, name, wire.name);
  const model = outcome ?? resolveModel(gateway.catalogue, name);
  if (model instanceof Refusal) return model;
  notes.model = model.id;

  const barred =
    checkEntitlement(caller, model, name) ??
    (outcome === undefined ? checkModelsOfKey(gateway.catalogue, caller, { model, name }) : undefined);
  if (barred !== undefined) return barred;
  const misplaced = checkModelOfWire(model, name, wire.name);
  if (misplaced !== undefined) return misplaced;
  const fitted = asking.fit(supportOf(model, wire.name));
  if (fitted instanceof Refusal) return fitted;
  const { request } = fitted;
  const refused = checkModelParameters(request, model, asking.nameOf) ?? checkContext(request, model, bytes.length);
  if (refused !== undefined) return withCallersName(asking.nameOf, refused);
  const eligible = findEligible(fitted, model, wire.name);
  if (eligible instanceof Refusal) return withCallersName(asking.nameOf, eligible);

  const repeatable = {
    appId,
    mode: caller.mode,
    userId,
    wire: wire.name,
    isStream,
    body: () => asking.joinsBy?.() ?? bytes,
  };
  const idempotencyKey = parseIdempotencyKey(gateway.idempotency.digests, incoming.retry, repeatable);
  if (idempotencyKey instanceof Refusal) return idempotencyKey;

  return callOf(fitted, model, {
    wire: wire.name,
    asking,
    caller,
    userId,
    correlationId,
    span: notes.span,
    session: notes.session,
    pseudonyms: gateway.pseudonyms,
    upstreams: gateway.upstreams.inOrder(eligible),
    idempotencyKey,
  });
}
