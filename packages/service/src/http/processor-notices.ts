import { readBody } from '#http/read-body.ts';
import { type Exchange, sendJson, sendNowhere, sendRefusal } from '#http/respond.ts';
import { Refusal } from '#kernel/refusal.ts';
import type { Notices } from '#payments/notices.ts';

/**
 * `POST /webhooks/stripe` and `/webhooks/test`: a notice of the payment processor, checked on the bytes as they came (ON-02).
 * Whatever fails here is answered by a 500, so that it is sent again. `notices`: undefined where this is not the processor.
 */
export async function handleProcessorNotice(notices: Notices | undefined, exchange: Exchange): Promise<void> {
  if (notices === undefined) return sendNowhere(exchange);
  const { request, response } = exchange;
  const body = await readBody(request);
  if (body === undefined || response.headersSent) return;
  if (body instanceof Refusal) return sendRefusal(exchange, body);
  const taken = await notices.take(body, request.headers);
  if (taken instanceof Refusal) return sendRefusal(exchange, taken);
  sendJson(response, 200, { received: true });
}
