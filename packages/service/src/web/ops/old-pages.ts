import type { PageMethods } from '#web/frame/page.ts';
import { cataloguePage } from '#web/ops/catalogue/catalogue-page.ts';
import { draftPage } from '#web/ops/imports/draft-page.ts';
import { importPage } from '#web/ops/imports/import-page.ts';
import { aliasForm, modelDeleteForm } from '#web/ops/models/model-acts.ts';
import { modelEditPage } from '#web/ops/models/model-edit.ts';
import { modelPage } from '#web/ops/models/model-page.ts';
import { pricePage } from '#web/ops/models/price-page.ts';
import { providerDeleteForm, providerPage, providerTestForm } from '#web/ops/providers/provider-acts.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';

/** The catalogue as operators see and change it. */
export function opsCataloguePages(services: OpsCatalogueServices): Readonly<Record<string, PageMethods>> {
  return {
    '/ops/catalogue': cataloguePage(services),
    '/ops/model': modelPage(services),
    '/ops/model-edit': modelEditPage(services),
    '/ops/price': pricePage(services),
    '/ops/alias': aliasForm(services),
    '/ops/model-delete': modelDeleteForm(services),
    '/ops/catalogue-import': importPage(services),
    '/ops/catalogue-draft': draftPage(services),
    '/ops/provider': providerPage(services),
    '/ops/provider-delete': providerDeleteForm(services),
    '/ops/provider-test': providerTestForm(services),
  };
}
