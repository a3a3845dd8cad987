import type { PlaygroundKeys } from '#developers/keys/playground-keys.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { OwnCalls } from '#http/listener/own-calls.ts';
import type { AppUsage } from '#calls/usage/report.ts';
import type { ConsoleServices } from '#web/console/frame/services.ts';

/** What the playground acts on: calls go through the data plane of this process, with keys that work once. */
export interface PlaygroundServices extends ConsoleServices {
  readonly catalogue: Pick<Catalogue, 'list'>;
  readonly playgroundKeys: PlaygroundKeys;
  readonly ownCalls: Pick<OwnCalls, 'post'>;
  readonly appUsage: Pick<AppUsage, 'receipt'>;
}
