/** Everything that the package exports. */
export type { CallOptions } from './api.ts';
export type { Charge } from './charge.ts';
export {
  type ConnectOptions,
  Purser,
  type PurserOptions,
  type PurserUser,
  type UsageOptions,
  type UserOptions,
} from './client.ts';
export {
  isPurserError,
  PaymentRequiredError,
  type PurserError,
  ServiceApiError,
  WebhookVerificationError,
} from './errors.ts';
export { asPaymentRequired } from './failure.ts';
export { guard } from './guard.ts';
export type { TopUpOptions } from './top-up.ts';
export { type Delivery, signTestPayload, type TestDelivery, verifyWebhook } from './webhooks.ts';
export type * from './wire.ts';
