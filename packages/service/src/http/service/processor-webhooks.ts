import { readBody, processors } from '#http/requests/read-body.ts';
import { type Exchange, sendJson, sendNowhere, sendRefusal } from '#http/answers/respond.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { ProcessorWebhooks } from '#payments/booking/processor-webhooks.ts';

/**
 * `POST /webhooks/stripe` and `/webhooks/test` take a webhook of the payment processor. Its signature is checked on the
 * raw bytes (ON-02), so the body is not parsed before. Every failure becomes a 500, and the processor sends the webhook
 * again. `webhooks` is undefined if this processor is not the configured one; the route then does not exist (404).
 */
export async function handleProcessorWebhook(
  webhooks: ProcessorWebhooks | undefined,
  exchange: Exchange,
): Promise<void> {
  if (webhooks === undefined) return sendNowhere(exchange);
  const { request, response } = exchange;
  const body = await readBody(exchange, { arriving: processors, caller: request.socket.remoteAddress ?? '' });
  if (body === undefined || response.headersSent) return;
  if (body instanceof Refusal) return sendRefusal(exchange, body);
  const received = await webhooks.receive(body, request.headers);
  if (received instanceof Refusal) return sendRefusal(exchange, received);
  sendJson(response, 200, { received: true });
}
