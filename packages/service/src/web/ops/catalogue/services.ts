import type { OpsServices } from '#web/ops/frame/asked.ts';

export type OpsCatalogueServices = OpsServices;
