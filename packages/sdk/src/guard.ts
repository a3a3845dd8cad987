import { asPaymentRequired } from './failure.ts';

/**
 * Runs a call of a chat client and turns its error for a 402 into a `PaymentRequiredError`. Every other error is thrown
 * unchanged. It wraps the client instead of `fetch`: a client would take an error of `fetch` for a broken connection and
 * retry.
 *
 *     const answer = await guard(() => client.chat.completions.create({ model, messages }));
 */
export async function guard<Result>(call: () => Result | PromiseLike<Result>): Promise<Awaited<Result>> {
  try {
    return await call();
  } catch (error) {
    throw asPaymentRequired(error) ?? error;
  }
}
