import type { Html } from '#kernel/html.ts';
import { type Frame, pageOf } from '#web/frame/layout.ts';

interface PersonPage {
  readonly title: string;
  readonly body: Html;
  readonly goesTo?: string;
  readonly isError?: boolean;
}

/** A page of people who own wallets: says in every case whether money is real (ON-03). */
export function personPage({ operatorName, supportEmail, isTestMoney }: Required<Frame>, page: PersonPage): Html {
  return pageOf({ ...page, frame: { operatorName, supportEmail, isTestMoney } });
}
