import { type Html, html } from '#kernel/text/html.ts';
import { scriptOf } from '#web/assets/page-policy.ts';

/**
 * When the form is sent, asks the browser for a passkey and sends it with the form. The offer is hidden at first, so that people
 * without scripts, or whose browser knows no passkeys, see nothing that cannot work.
 */
export const PASSKEY_SCRIPT = scriptOf(`
const options = document.getElementById('passkey-options');
const isNew = options.dataset.does === 'create';
const kind = window.PublicKeyCredential;
const parse = kind && (isNew ? kind.parseCreationOptionsFromJSON : kind.parseRequestOptionsFromJSON);
if (parse) {
  document.getElementById('passkey-offer').hidden = false;
  const form = options.closest('form');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    document.getElementById('passkey-failed').hidden = true;
    try {
      const publicKey = parse.call(kind, JSON.parse(options.dataset.options));
      const made = await navigator.credentials[isNew ? 'create' : 'get']({ publicKey });
      form.elements.credential.value = JSON.stringify(made);
      form.submit();
    } catch {
      document.getElementById('passkey-failed').hidden = false;
    }
  });
} else {
  const cannot = document.getElementById('passkey-cannot');
  if (cannot) cannot.hidden = false;
}
`);

interface PasskeyFields {
  readonly does: 'create' | 'get';
  /** The options of the WebAuthn call, as JSON. */
  readonly options: unknown;
  readonly button: Html;
  readonly failed: string;
}

/** The fields of the form that the script sends. The form must be inside an element with the id `passkey-offer`. */
export function passkeyFields({ does, options, button, failed }: PasskeyFields): Html {
  return html`<input type="hidden" id="passkey-options" name="credential" value=""
  data-does="${does}" data-options="${JSON.stringify(options)}">
<p class="alert" role="status" id="passkey-failed" hidden>${failed}</p>
${button}`;
}
