import encodeQR from 'qr';
import { type Html, html } from '#kernel/text/html.ts';

/** The width of the light border that readers need, in modules. */
const QUIET = 4;
const PIXELS = 232;
/** A code of more text is too fine for the camera of a phone. No address that we write is as long. */
const TEXT_BYTES_MAX = 858;

/**
 * Makes a QR code as an inline SVG, dark on light in any colour scheme. `label` says to screen readers what it is for.
 * Returns undefined when the text is too long.
 */
export function qrCode(text: string, label: string): Html | undefined {
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) return undefined;
  const modules = encodeQR(text, 'raw', { ecc: 'low', border: QUIET }); // A screen needs no more correction.
  const side = modules.length;
  return html`<p><svg role="img" aria-label="${label}" width="${PIXELS}" height="${PIXELS}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path fill="#000" d="${pathOf(modules)}"/></svg></p>`;
}

/**
 * Draws one rectangle for each run of dark modules in a row, which takes a third of the bytes of one for each module.
 * The light border ends each run.
 */
function pathOf(modules: readonly (readonly boolean[])[]): string {
  const runs: string[] = [];
  for (const [y, row] of modules.entries()) {
    for (let x = row.indexOf(true); x !== -1; x = row.indexOf(true, x)) {
      const length = row.indexOf(false, x) - x;
      runs.push(`M${x} ${y}h${length}v1h-${length}z`);
      x += length;
    }
  }
  return runs.join('');
}
