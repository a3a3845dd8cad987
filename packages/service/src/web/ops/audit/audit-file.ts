import { foundEntryToWire } from '#http/serializers/audit-to-wire.ts';
import { csvField } from '#http/serializers/csv.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AuditSearch, EntryFilter } from '#operator/look-up/audit-search.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { refusalPage } from '#web/frame/responses.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { filterOf, typedFilter } from '#web/ops/audit/audit-filter.ts';
import { AUDIT_TEXTS as TEXTS } from '#web/ops/audit/texts.ts';

const COLUMNS = [
  'entryId',
  'at',
  'actor',
  'actorName',
  'from',
  'action',
  'subject',
  'reason',
  'amountMicros',
  'before',
  'after',
  'line',
  'hash',
] as const;

type Written = ReturnType<typeof foundEntryToWire>;
type Batches = ReturnType<AuditSearch['all']>;

const FORMATS = {
  csv: { type: 'text/csv; charset=utf-8', write: csvOf },
  jsonl: { type: 'application/jsonl; charset=utf-8', write: jsonLinesOf },
} as const;

/**
 * Makes `/ops/audit/export`, which gives every entry that fits the filter as a file, the newest first. The file is sent
 * as it is read.
 */
export function auditFile(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: ({ request: { query } }) => {
      const filter: EntryFilter | Refusal<'BAD_REQUEST'> = filterOf(typedFilter(query));
      if (filter instanceof Refusal) {
        return refusalPage({ home: { path: opsPath('audit'), name: TEXTS.title }, frame: services.frame }, filter);
      }
      const format = query.get('format') === 'jsonl' ? 'jsonl' : 'csv';
      const { type, write } = FORMATS[format];
      return {
        status: 200,
        file: {
          headers: {
            'content-type': type,
            'content-disposition': `attachment; filename="${TEXTS.fileName}.${format}"`,
          },
          text: write(services.operator.auditSearch.all(filter)),
        },
      };
    },
  });
}

async function* csvOf(batches: Batches): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const entries of batches) yield entries.map((entry) => csvLine(foundEntryToWire(entry))).join('');
}

function csvLine(entry: Written): string {
  const cells = COLUMNS.map((name) => {
    const value = entry[name];
    if (value === null) return '';
    return csvField(typeof value === 'object' ? JSON.stringify(value) : value);
  });
  return `${cells.join(',')}\r\n`;
}

async function* jsonLinesOf(batches: Batches): AsyncGenerator<string> {
  for await (const entries of batches) {
    yield entries.map((entry) => `${JSON.stringify(foundEntryToWire(entry))}\n`).join('');
  }
}
