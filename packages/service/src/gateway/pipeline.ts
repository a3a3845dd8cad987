import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Caller, KeyDirectory } from '#developers/keys/directory.ts';
import type { Idempotency } from '#idempotency/idempotency.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import { parseUser } from '#gateway/request/admission.ts';
import type { Answer } from '#gateway/answer/answer.ts';
import {
  callOf,
  checkEntitlement,
  checkModelParameters,
  checkModelsOfKey,
  findEligible,
  parseIdempotencyKey,
  resolveModel,
} from '#gateway/request/validate-call.ts';
import { checkContext, checkModelOfWire, findOutcomeModel, supportOf } from '#gateway/request/check-model.ts';
import { withCallersName } from '#gateway/request/callers-name.ts';
import type { AskingCall, Drains, Gone, StreamPace, Rejections } from '#gateway/call/call.ts';
import type { CallNotes } from '#gateway/call/call-notes.ts';
import type { BeginSpan } from '#gateway/call/call-span.ts';
import type { Lane } from '#gateway/call/lane.ts';
import type { Wire, WireRequest } from '#gateway/call/wire.ts';
import { parseBody } from '#gateway/body/parse-body.ts';
import { acceptedBy } from '#gateway/parameters/parameters.ts';
import type { Pseudonyms } from '#gateway/request/pseudonyms.ts';
import type { Upstreams } from '#gateway/upstream/upstreams.ts';
import { runInLane } from '#gateway/run-in-lane.ts';
import { measurePrompt } from '#gateway/usage/hold-request.ts';
import type { CorrelationId, EndUserId } from '#kernel/values/ids.ts';
import type { Log } from '#kernel/log.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { headerOf } from '#kernel/text/header-text.ts';
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

/** A call whose caller is known and whose body has come. */
export interface Incoming {
  readonly wire: Pick<Wire, 'name' | 'read'>;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
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
  const { wire, caller, headers, correlationId, bytes, notes } = incoming;
  const userId = parseUser(caller, headerOf(headers, 'x-service-user'));
  if (userId instanceof Refusal) return userId;
  notes.userId = userId;

  const body = parseBody(bytes);
  if (body instanceof Refusal) return body;
  const asking = wire.read(body, {
    appId: caller.app.appId,
    userId,
    mode: caller.mode,
    userAgent: headerOf(headers, 'user-agent'),
    version: headerOf(headers, 'anthropic-version'),
    betas: headerOf(headers, 'anthropic-beta'),
  });
  if (asking instanceof Refusal) return asking;
  const { isStream, model: name } = asking;
  notes.isStream = isStream;

  const outcome = findOutcomeModel(gateway.catalogue, caller, name, wire.name);
  const model = outcome ?? resolveModel(gateway.catalogue, name);
  if (model instanceof Refusal) return model;
  notes.model = model.id;

  const barred =
    checkEntitlement(caller, model, name) ??
    (outcome === undefined ? checkModelsOfKey(gateway.catalogue, caller, model, name) : undefined);
  if (barred !== undefined) return barred;
  const misplaced = checkModelOfWire(model, name, wire.name);
  if (misplaced !== undefined) return misplaced;
  const fitted = asking.fit(supportOf(model, wire.name));
  if (fitted instanceof Refusal) return fitted;
  const { request } = fitted;
  const measured = measurePrompt(request, acceptedBy(model.parameters));
  const refused =
    checkModelParameters(request, model, { nameOf: asking.nameOf, measured }) ??
    checkContext(request, model, bytes.length);
  if (refused !== undefined) return withCallersName(asking.nameOf, refused);
  const eligible = findEligible(fitted, model, wire.name);
  if (eligible instanceof Refusal) return withCallersName(asking.nameOf, eligible);

  const idempotencyKey = keyOf(gateway, incoming, { asking, userId });
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
    measured,
  });
}

/** The idempotency key of a call that says that it may be retried, or is a retry. */
function keyOf(
  { idempotency: { digests } }: Gateway,
  { wire, caller, headers, bytes }: Incoming,
  { asking, userId }: { readonly asking: WireRequest; readonly userId: EndUserId },
): ReturnType<typeof parseIdempotencyKey> {
  const { joinSeconds, mode } = caller;
  const key = headerOf(headers, 'idempotency-key');
  const retryCount = headerOf(headers, 'x-stainless-retry-count');
  if (key === undefined && retryCount === undefined && joinSeconds === null) return undefined;
  return parseIdempotencyKey(
    digests,
    { idempotencyKey: key, retryCount, joinSeconds },
    {
      appId: caller.app.appId,
      mode,
      userId,
      wire: wire.name,
      isStream: asking.isStream,
      body: () => asking.joinsBy?.() ?? bytes,
    },
  );
}
