import { type Html, html } from '#kernel/text/html.ts';

interface TextArea {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly isInvalid?: boolean;
  /** How many lines are in sight. */
  readonly rows?: number;
}

/** A labelled field for several lines. */
export function textArea({ name, label, value, hint, isInvalid = false, rows = 4 }: TextArea): Html {
  const describedBy = hint === undefined ? undefined : html` aria-describedby="${name}-hint"`;
  return html`<label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="${rows}"${describedBy}${isInvalid ? html` aria-invalid="true"` : undefined}>
${value}</textarea>
${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}`;
}
