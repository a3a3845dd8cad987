import type { PageMethods, PageRequest } from '#web/frame/page.ts';

/** One request for a page, with what the page acts on. */
export type ActingRequest<Who, Services> = PageRequest<Who> & { readonly services: Services };

/** The pages, each of which gets `services` with its request. */
export function actingOn<Who, Services>(
  services: Services,
  pages: Readonly<Record<string, PageMethods<Who, ActingRequest<Who, Services>>>>,
): Readonly<Record<string, PageMethods<Who>>> {
  const bound = ({ GET, POST, ...others }: PageMethods<Who, ActingRequest<Who, Services>>): PageMethods<Who> => ({
    ...others,
    ...(GET === undefined ? {} : { GET: (request) => GET({ ...request, services }) }),
    ...(POST === undefined ? {} : { POST: (request, form) => POST({ ...request, services }, form) }),
  });
  return Object.fromEntries(Object.entries(pages).map(([path, methods]) => [path, bound(methods)]));
}
