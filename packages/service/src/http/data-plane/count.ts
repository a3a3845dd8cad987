import type { Wire } from '#gateway/call/wire.ts';
import { countPrompt } from '#gateway/pipeline.ts';
import { admit } from '#gateway/request/admission.ts';
import { incomingOf } from '#http/data-plane/call.ts';
import { type DataPlane, refuseAfterBody } from '#http/data-plane/data-plane.ts';
import { heavyBodies } from '#http/requests/heavy-bodies.ts';
import { declaredRefusal, readBody, knownCallers } from '#http/requests/read-body.ts';
import { type Exchange, nameAnswer, sendJson, sendRefusal, setRateLimit } from '#http/answers/respond.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

/** Answers a request to count a prompt: by the vendor's own count where there is one, and by our estimate elsewhere (WI-10). It costs nothing. */
export async function handleCount(plane: DataPlane, wire: Wire, asked: Exchange): Promise<void> {
  const { gateway, bodyBytesMax } = plane;
  const { request, response } = asked;
  const exchange = { ...asked, errorOf: wire.errorOf };
  nameAnswer(exchange);
  const most = wire.takesLargeBodies ? bodyBytesMax : undefined;
  const declared = declaredRefusal(request, most);
  if (declared !== undefined) return sendRefusal(exchange, wire.worded(declared));
  const listener: Parameters<typeof admit>[2] = { onRate: (limits, rate) => setRateLimit(response, limits, rate) };
  const caller = await admit(gateway, request, listener, wire.takesKeyHeader);
  if (caller instanceof Refusal) return refuseAfterBody(exchange, wire.worded(caller), most);
  const { accountId } = caller.app;
  const bytes = await readBody(exchange, { arriving: knownCallers, caller: accountId, most });
  if (bytes === undefined || response.headersSent) return;
  const read = wire.counting?.read ?? wire.read;
  const by = { ...wire, read };
  const counted =
    bytes instanceof Refusal
      ? bytes
      : await heavyBodies.run(accountId, bytes, () => countPrompt(gateway, incomingOf(exchange, by, caller, bytes)));
  if (counted instanceof Refusal) return sendRefusal(exchange, wire.worded(counted));
  sendJson(response, 200, { input_tokens: counted.tokens, is_estimated: counted.isEstimated });
}
