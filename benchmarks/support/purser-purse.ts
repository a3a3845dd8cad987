import { untilSettled } from './books.ts';
import { bodyOf, CHAT_PATH } from './call.ts';
import { EXACT_MODEL, EXACT_PRICE_MICROS, USAGE } from './catalogue.ts';
import { fundUser } from './database.ts';
import type { OpenPurse } from './peer.ts';
import type { Purser } from './purser.ts';

/** Calls hold exactly what they are charged, so that as many fit into a purse at once as fit into it one after the other. */
export function purserPurses({ service, database, apps: [app] }: Purser): OpenPurse {
  if (app === undefined) throw new Error('The service has no app.');
  let users = 0;
  return async (calls) => {
    const user = `purse-${(users += 1)}`;
    const money = calls * EXACT_PRICE_MICROS;
    await fundUser(database.owner, app, user, money);
    return {
      url: `${service.ready}${CHAT_PATH}`,
      headers: { authorization: `Bearer ${app.liveKey}`, 'x-service-user': user },
      body: bodyOf({ stream: false, model: EXACT_MODEL, maxTokens: USAGE.completion }),
      money,
      price: EXACT_PRICE_MICROS,
      left: async () => {
        await untilSettled({ database });
        const { rows } = await database.owner.query<{ readonly left: bigint }>(
          'select balance_micros as left from ledger.wallets where app_id = $1 and user_id = $2',
          [app.appId, user],
        );
        return Number(rows[0]?.left);
      },
    };
  };
}
