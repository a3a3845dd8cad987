import { foundEntryToWire } from '#http/serializers/audit-to-wire.ts';
import { csvField } from '#http/serializers/csv.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { AuditSearch } from '#operator/look-up/audit-trail.ts';
import { refusalPage } from '#web/frame/responses.ts';
import type { OpsPage } from '#web/ops/frame/asked.ts';
import { typedIn } from '#web/ops/frame/list-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { auditFields, filterOf } from '#web/ops/audit/audit-filter.ts';
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
 * The file `/ops/audit/export`, which has every entry that fits the filter, the newest first. It is sent as it is read.
 */
export const exportPage: OpsPage = {
  GET: (asked) => {
    const filter = filterOf(typedIn(asked, auditFields(asked)));
    if (filter instanceof Refusal) {
      return refusalPage({ home: { path: opsPath('audit'), name: TEXTS.title }, frame: asked.frame }, filter);
    }
    const format = asked.asks('format') === 'jsonl' ? 'jsonl' : 'csv';
    const { type, write } = FORMATS[format];
    const headers = {
      'content-type': type,
      'content-disposition': `attachment; filename="audit.${format}"`,
    };
    return { status: 200, file: { headers, text: write(asked.operator.auditSearch.all(filter)) } };
  },
};

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
