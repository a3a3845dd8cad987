import { CONSOLE, SESSIONS } from '#web/development/samples/console.ts';
import { FIELDS } from '#web/development/samples/fields.ts';
import { FIGURES } from '#web/development/samples/figures.ts';
import { NOTICES, PARTS } from '#web/development/samples/parts.ts';
import type { ComponentSample } from '#web/development/samples/sample.ts';

/** Every component, in the order in which the page shows them. */
export const COMPONENT_SAMPLES: readonly ComponentSample[] = [
  ...NOTICES,
  ...FIELDS,
  ...FIGURES,
  ...SESSIONS,
  ...PARTS,
  ...CONSOLE,
];
