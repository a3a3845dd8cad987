import { type Html, html } from '#kernel/html.ts';
import { type QrMatrix, qrMatrixOf } from '#web/account/qr-matrix.ts';

/** The light border that readers need, in modules. */
const QUIET = 4;
const PIXELS = 232;

/** A QR code as an inline SVG, dark on light in any colour scheme. `label` says to screen readers what it is for. */
export function qrCode(text: string, label: string): Html | undefined {
  const matrix = qrMatrixOf(text);
  if (matrix === undefined) return undefined;
  const side = matrix.length + 2 * QUIET;
  return html`<p><svg role="img" aria-label="${label}" width="${PIXELS}" height="${PIXELS}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path fill="#000" d="${pathOf(matrix)}"/></svg></p>`;
}

/** One rectangle for each run of dark modules in a row: a third of the bytes of one for each module. */
function pathOf(matrix: QrMatrix): string {
  const runs: string[] = [];
  for (const [y, row] of matrix.entries()) {
    for (let x = 0; x < row.length; x += 1) {
      if (row[x] !== true) continue;
      const end = row.indexOf(false, x);
      const length = (end === -1 ? row.length : end) - x;
      runs.push(`M${x + QUIET} ${y + QUIET}h${length}v1h-${length}z`);
      x += length;
    }
  }
  return runs.join('');
}
