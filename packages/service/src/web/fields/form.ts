import { type Html, html } from '#kernel/text/html.ts';

/** The name of the field with the proof. The handler of a form reads it before anything else. */
export const PROOF_FIELD = 'form';

interface ProvenForm {
  readonly action: string;
  /** An HMAC of `action` under the visitor's session, see `web/serving/form-proof.ts`. */
  readonly proof: string;
  readonly fields: Html;
  /** Whether the form has a field for a file. */
  readonly hasFile?: boolean | undefined;
}

/** A form that posts to `action`, with its proof. Pages use `request.form`, which fills in the proof; never this. */
export function provenForm({ action, proof, fields, hasFile = false }: ProvenForm): Html {
  return html`<form method="post" action="${action}"${hasFile ? html` enctype="multipart/form-data"` : undefined}>
${hiddenField(PROOF_FIELD, proof)}
${fields}
</form>`;
}

/** A value that a form carries and nobody sees. Anybody can change it: the handler must check it as any other. */
export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}
