import { type AppId, appIdFrom, type KeyId, keyIdFrom } from '#kernel/values/ids.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { hiddenField } from '#web/fields/fields.ts';
import type { Form } from '#web/forms/read-form.ts';

const LENGTH = 22; // 131 bits.
const ONCE = /^[0-9A-Za-z]{22}$/;

/**
 * A value of one shown form. What the form makes takes its id from it, so sending the same form again, by reloading the answer
 * or by a second press, makes nothing more.
 */
export function onceField(): Html {
  return html`${hiddenField('once', randomBase62(LENGTH))}`;
}

/** The id of the key that this form makes in the app. Undefined for a form without the value: any id will do. */
export function keyIdOnce(form: Form, appId: AppId): KeyId | undefined {
  const once = onceIn(form);
  return once === undefined ? undefined : keyIdFrom(`${appId}\n${once}`);
}

/** Returns the id of an app that this account makes, which is the same if the form is sent again. */
export function appIdOnce(form: Form, accountId: string): AppId | undefined {
  const once = onceIn(form);
  return once === undefined ? undefined : appIdFrom(`${accountId}\n${once}`);
}

/** The value of the form itself. Undefined for a form without one. */
export function onceIn(form: Form): string | undefined {
  const text = form.field('once');
  return ONCE.test(text) ? text : undefined;
}
