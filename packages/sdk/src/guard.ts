import { asPaymentRequired } from './failure.ts';

/**
 * Does a call by a chat client and turns its error for a 402 into a `PaymentRequiredError`. Every other error stays as the
 * client raised it. A 402 is raised where clients cannot take it for a broken connection, so none of them tries again.
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
