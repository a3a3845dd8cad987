import type { PageRoutes } from '#http/listener/page-routes.ts';
import type { Planes } from '#http/planes/planes.ts';

/** What takes no calls: the routes of owners and operators, and the pages. */
export interface OtherRoutes {
  readonly planes: Planes;
  readonly pages: PageRoutes;
}

/** Opens them when somebody first asks for one, once for all. */
export type OpenOtherRoutes = () => Promise<OtherRoutes>;
