import type { ApiKeys } from '#app/compose/api-keys.ts';
import type { Served } from '#app/catalogue/catalogue.ts';
import type { Cells } from '#app/cells/open-cells.ts';
import { openCellPeople } from '#app/cells/people.ts';
import { openControlPlane } from '#app/others/control-plane.ts';
import { openDevelopers } from '#app/others/developers.ts';
import type { Mail } from '#app/compose/mail.ts';
import { openOperatorPlane } from '#app/others/operator-plane.ts';
import type { Payments } from '#app/compose/payments.ts';
import { openWalletOwners } from '#app/others/people.ts';
import { createPaces, openPlanes } from '#app/others/planes.ts';
import type { Webhooks } from '#app/compose/webhooks.ts';
import type { ReadAllMetrics } from '#app/monitoring/metrics.ts';
import type { Status } from '#app/monitoring/status.ts';
import type { Ground } from '#app/process/ground.ts';
import { openReports } from '#app/reports/reports.ts';
import { openUserHistory } from '#app/reports/user-movements.ts';
import type { Links } from '#connections/link.ts';
import type { Generations } from '#db/processes/generations.ts';
import type { CellRoute } from '#http/cells/questions/question.ts';
import type { InFlight } from '#http/listener/closing.ts';
import type { OtherRoutes } from '#http/listener/other-routes.ts';
import type { OwnCalls } from '#http/listener/own-calls.ts';
import type { Throttle } from '#limits/throttle.ts';
import { createPages } from '#web/pages.ts';

interface OtherNeeds {
  readonly apiKeys: ApiKeys;
  readonly cells: Pick<Cells, 'peers'>;
  readonly served: Served;
  readonly changes: Generations;
  readonly links: Links;
  readonly mail: Mail;
  readonly webhooks: Webhooks;
  readonly payments: Payments | undefined;
  readonly throttle: Throttle;
  readonly status: Pick<Status, 'readStatus'>;
  readonly readAllMetrics: ReadAllMetrics;
  readonly inFlight: InFlight;
  readonly ownCalls: OwnCalls;
}

/** What takes no calls, and what gateways of other cells may ask about it. */
export interface Others extends OtherRoutes {
  readonly cellRoutes: readonly CellRoute[];
}

/** Opens the planes of owners and operators and the pages. It does nothing by itself, and knows nothing that calls need. */
export async function openOtherRoutes(ground: Ground, needs: OtherNeeds): Promise<Others> {
  const { config, keys, log } = ground;
  const { apiKeys, served, changes, links, mail, webhooks, payments, throttle, inFlight, ownCalls } = needs;
  const { peers } = needs.cells;
  const { readStatus } = needs.status;
  const { catalogue } = served;
  const { readAllMetrics } = needs;

  // What is read of calls, users and wallets, in all cells.
  const reports = openReports(ground, peers);
  const history = openUserHistory(ground, peers);
  const cellPeople = openCellPeople(ground, peers);

  // What owners, operators and people act on.
  const developers = openDevelopers(ground, { apiKeys, catalogue, throttle, mail });
  const { rules, playgroundKeys } = developers;
  const control = openControlPlane(ground, { developers, reports, webhooks, changes, inFlight });
  const operator = openOperatorPlane(ground, {
    control,
    apiKeys,
    served,
    reports,
    history,
    payments,
    mail,
    readAllMetrics,
  });
  const people = { control, links, catalogue, throttle, history, mail, payments, cellPeople, apiKeys };
  const walletOwners = openWalletOwners(ground, people);

  const paces = createPaces(config.accountPace);
  return {
    cellRoutes: [reports, history, cellPeople].flatMap((one) => one.cellRoutes),
    planes: await openPlanes(ground, { control, operator, rules, readStatus, paces, inFlight }),
    pages: createPages({
      control,
      operator,
      walletOwners,
      rules,
      catalogue,
      playgroundKeys,
      ownCalls,
      formKeys: keys.proof('page-form'),
      isDevelopment: config.environment === 'development',
      readStatus,
      pace: paces.pages,
      log,
    }),
  };
}
