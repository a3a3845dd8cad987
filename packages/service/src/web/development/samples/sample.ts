import type { Html } from '#kernel/text/html.ts';

/** One component in its states. A test compares the components with the exports of `web/components`: none may be missing. */
export interface ComponentSample {
  readonly component: (...given: never[]) => Html | undefined;
  /** The states by name. The `id` is unique on the page, for fields and headings. */
  readonly states: Readonly<Record<string, (id: string) => Html | undefined>>;
}

export function sample(component: ComponentSample['component'], states: ComponentSample['states']): ComponentSample {
  return { component, states };
}
