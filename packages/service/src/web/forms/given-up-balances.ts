import { type Html, html } from '#kernel/text/html.ts';
import { micros } from '#kernel/values/micros.ts';
import type { Agreed, PersonWallet } from '#privacy/deletion.ts';
import { hiddenField } from '#web/fields/fields.ts';
import type { Form } from '#web/forms/read-form.ts';

/** The field of a form that names what a person gives up in each wallet. */
const FIELD = 'givesUp';
const REST = /^(\w+):([1-9]\d{0,15})$/;

/** Names the amounts that the page shows, so that nobody gives up more than they have read. */
export function givenUpField(rests: readonly PersonWallet[]): Html | undefined {
  if (rests.length === 0) return undefined;
  return html`${hiddenField(FIELD, rests.map(({ connectionId, balance }) => `${connectionId}:${balance}`).join(' '))}\n`;
}

/** What the form says that is given up. */
export function givenUpIn(form: Form): Agreed {
  const amounts = new Map(
    form
      .field(FIELD)
      .split(' ')
      .flatMap((text) => {
        const [, connectionId, amount] = REST.exec(text) ?? [];
        return connectionId === undefined || amount === undefined
          ? []
          : [[connectionId, micros(BigInt(amount))] as const];
      }),
  );
  return ({ connectionId }) => amounts.get(connectionId);
}
