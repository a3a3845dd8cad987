import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Balance, type BalanceRow, createBalance, pageOf, type Row } from './stripe-balance.ts';

/** A local server that looks like Stripe to Stripe's own library: sessions, payments, refunds, disputes, webhooks. */
export interface StripeServer extends StripeHand {
  readonly url: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Every request, the newest last. */
  readonly requests: readonly StripeRequest[];
  /** While this is set, every answer has this status. */
  failing: number | undefined;
  /** The status of requested refunds. `refused` means that it declines for good. */
  refundStatus: string;
  /** The page size of a list. Small, so that lists have several pages. */
  pageSize: number;
  /** When movements of the balance happen, in seconds. Now if it is undefined. */
  balanceAt: number | undefined;
  readonly close: () => Promise<void>;
}

interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
}

/** What happens at Stripe. */
interface StripeHand {
  /** Pays at a session, by default as requested. Returns the payment intent. */
  readonly pay: (session: string, paid?: { readonly amount?: number; readonly currency?: string }) => string;
  readonly refundThere: (payment: string, amount: number, status?: string) => string;
  readonly setRefund: (refund: string, status: string) => void;
  /** A payment to other software with the same account. */
  readonly payElsewhere: (amount: number) => string;
  /** Every movement of the balance. */
  readonly balance: () => readonly BalanceRow[];
  /** A bank disputes a payment and takes the money. Returns the dispute. */
  readonly dispute: (
    payment: string,
    amount: number,
    account?: { readonly amount: number; readonly currency: string },
  ) => string;
  /** The dispute is won: the money comes back. */
  readonly reinstate: (dispute: string) => void;
  /** A webhook of this type about a payment, with a new id. */
  readonly event: (type: string, payment: string) => SignedEvent;
  readonly sign: (body: string, options?: { readonly at?: number; readonly secret?: string }) => string;
}

export interface SignedEvent {
  readonly body: string;
  readonly signature: string;
}

const SECRET_KEY = 'sk_test_canary51HfakeFAKEfake';
const WEBHOOK_SECRET = 'whsec_canaryFAKEfakeFAKEfake';

interface Books {
  readonly tables: Readonly<Record<'sessions' | 'intents' | 'refunds' | 'disputes', Map<string, Row>>>;
  readonly answers: Map<string, { readonly form: string; readonly row: Row }>;
  readonly next: (kind: string) => string;
  readonly balance: Balance;
}

export async function startStripeServer(): Promise<StripeServer> {
  let count = 0;
  const books: Books = {
    tables: { sessions: new Map(), intents: new Map(), refunds: new Map(), disputes: new Map() },
    answers: new Map(),
    next: (kind) => `${kind}_${(count += 1).toString().padStart(12, '0')}`,
    balance: createBalance({ at: () => stripe.balanceAt, next: (kind) => books.next(kind) }),
  };
  const requests: StripeRequest[] = [];
  const server: Server = createServer((request, response) => {
    void readForm(request).then((form) => {
      const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://stripe.test');
      const asked = { method: request.method ?? '', path, form: { ...Object.fromEntries(searchParams), ...form } };
      requests.push({ ...asked, headers: request.headers });
      const { status, body } = answerTo(books, stripe, { ...asked, headers: request.headers });
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': books.next('req') });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const stripe: StripeServer = {
    ...handOf(books),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secretKey: SECRET_KEY,
    webhookSecret: WEBHOOK_SECRET,
    requests,
    failing: undefined,
    refundStatus: 'succeeded',
    pageSize: 2,
    balanceAt: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return stripe;
}

async function readForm(request: IncomingMessage): Promise<Readonly<Record<string, string>>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString('utf8')));
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function answerTo(books: Books, stripe: StripeServer, request: StripeRequest): Answer {
  if (request.headers.authorization !== `Bearer ${SECRET_KEY}`) return refused(401, 'invalid_request_error');
  if (stripe.failing !== undefined) return refused(stripe.failing, 'api_error');
  const [, , ...parts] = request.path.split('/');
  const [kind = '', id] = parts[0] === 'checkout' ? parts.slice(1) : parts;
  if (kind === 'balance_transactions')
    return { status: 200, body: pageOf(books.balance.within(request.form), 100, request.form) };
  const table = books.tables[kind === 'payment_intents' ? 'intents' : (kind as 'sessions')];
  if (table === undefined) return refused(404, 'invalid_request_error');
  if (request.method === 'POST') return created(books, stripe, { kind, request });
  if (id === undefined) return { status: 200, body: pageOf([...table.values()], stripe.pageSize, request.form) };
  const row = table.get(id);
  return row === undefined ? refused(404, 'invalid_request_error') : { status: 200, body: row };
}

/** The messages are as detailed as Stripe's, and none of that may reach a log. */
function refused(status: number, type: string): Answer {
  return { status, body: { error: { type, message: `No: ${SECRET_KEY} canary-of-stripe`, code: 'some_code' } } };
}

/** The same idempotency key gets the same answer again, and a refusal for another request. */
function created(
  books: Books,
  stripe: StripeServer,
  { kind, request }: { kind: string; request: StripeRequest },
): Answer {
  const key = String(request.headers['idempotency-key']);
  const form = JSON.stringify(request.form);
  const before = books.answers.get(key);
  if (before !== undefined && before.form !== form) return refused(400, 'idempotency_error');
  if (before !== undefined) return { status: 200, body: before.row };
  if (kind === 'refunds' && stripe.refundStatus === 'refused') return refused(400, 'invalid_request_error');
  const row =
    kind === 'refunds' ? newRefund(books, request.form, stripe.refundStatus) : newSession(books, request.form);
  books.answers.set(key, { form, row });
  return { status: 200, body: row };
}

function newSession({ tables, next }: Books, form: StripeRequest['form']): Row {
  const id = next('cs_test');
  const row = {
    id,
    object: 'checkout.session',
    url: `https://checkout.stripe.com/c/pay/${id}`,
    payment_intent: null,
    client_reference_id: form['client_reference_id'],
    metadata: { purser_checkout: form['metadata[purser_checkout]'] },
    form,
  };
  tables.sessions.set(id, row);
  return row;
}

function newRefund({ tables, next, balance }: Books, form: StripeRequest['form'], status: string): Row {
  const id = next('re');
  const intent = tables.intents.get(form['payment_intent'] ?? '');
  const ours = form['metadata[purser_refund]'];
  const row = {
    id,
    object: 'refund',
    payment_intent: intent?.id,
    amount: Number(form['amount']),
    currency: intent?.['currency'],
    status,
    metadata: ours === undefined ? {} : { purser_refund: ours },
  };
  tables.refunds.set(id, row);
  if (status === 'succeeded' || status === 'pending') balance.move('refund', -row.amount, row);
  return row;
}

const sign: StripeHand['sign'] = (body, { at = Math.floor(Date.now() / 1_000), secret = WEBHOOK_SECRET } = {}) =>
  `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;

function handOf(books: Books): StripeHand {
  const {
    tables,
    next,
    balance: { move },
  } = books;
  return {
    pay: (session, paid = {}) => {
      const row = found(tables.sessions, session);
      const form = row['form'] as StripeRequest['form'];
      const id = next('pi');
      tables.intents.set(id, {
        id,
        object: 'payment_intent',
        status: 'succeeded',
        amount_received: paid.amount ?? Number(form['line_items[0][price_data][unit_amount]']),
        currency: paid.currency ?? form['line_items[0][price_data][currency]'],
        latest_charge: next('ch'),
        metadata: { purser_checkout: form['payment_intent_data[metadata][purser_checkout]'] },
      });
      tables.sessions.set(session, { ...row, payment_intent: id });
      const { amount_received: amount, currency } = found(tables.intents, id);
      const charge = { id: next('ch'), object: 'charge', payment_intent: id, amount, currency };
      move('charge', Number(amount), charge, { fee: 25 });
      return id;
    },
    payElsewhere: (amount) => {
      const id = next('pi');
      tables.intents.set(id, {
        id,
        object: 'payment_intent',
        status: 'succeeded',
        amount_received: amount,
        currency: 'eur',
        metadata: {},
      });
      move('charge', amount, { id: next('ch'), object: 'charge', payment_intent: id, amount, currency: 'eur' });
      return id;
    },
    balance: () => books.balance.rows,
    refundThere: (payment, amount, status = 'succeeded') =>
      newRefund(books, { payment_intent: payment, amount: String(amount) }, status).id,
    setRefund: (refund, status) => {
      const row: Row = { ...found(tables.refunds, refund), status };
      tables.refunds.set(refund, row);
      if (status === 'failed' || status === 'canceled') move('refund_failure', Number(row['amount']), row);
    },
    ...disputesOf(books),
    event: (type, payment) => {
      const body = JSON.stringify({
        id: next('evt'),
        object: 'event',
        type,
        data: { object: aboutOf(books, type, payment) },
      });
      return { body, signature: sign(body) };
    },
    sign,
  };
}

function disputesOf({ tables, next, balance: { move } }: Books): Pick<StripeHand, 'dispute' | 'reinstate'> {
  return {
    dispute: (payment, amount, account) => {
      const id = next('du');
      const currency = found(tables.intents, payment)['currency'];
      const taken = { id: next('txn'), amount: -(account?.amount ?? amount), currency: account?.currency ?? currency };
      const movements = [{ ...taken, fee: 1_500 }];
      tables.disputes.set(id, {
        id,
        object: 'dispute',
        payment_intent: payment,
        amount,
        currency,
        balance_transactions: movements,
      });
      move('dispute', taken.amount, { id, payment_intent: payment, amount, currency }, { id: taken.id, fee: 1_500 });
      return id;
    },
    reinstate: (dispute) => {
      const row = found(tables.disputes, dispute);
      const [taken] = row['balance_transactions'] as { readonly amount: number }[];
      const back = { ...taken, id: next('txn'), amount: -(taken?.amount ?? 0), fee: 0 };
      tables.disputes.set(dispute, { ...row, balance_transactions: [taken, back] });
      move('dispute_reversal', back.amount, row, { id: back.id });
    },
  };
}

function found(table: Map<string, Row>, id: string): Row {
  const row = table.get(id);
  if (row === undefined) throw new Error(`There is no ${id}.`);
  return row;
}

/** The object in a webhook of a type: a session, a payment, a charge, a refund or a dispute. */
function aboutOf({ tables }: Books, type: string, payment: string): unknown {
  if (type.startsWith('payment_intent.')) return { id: payment, object: 'payment_intent' };
  if (type.startsWith('checkout.')) {
    return [...tables.sessions.values()].find((row) => row['payment_intent'] === payment);
  }
  const object = type.startsWith('charge.dispute.') ? 'dispute' : (type.split('.')[0] ?? '');
  return { id: `${object}_1`, object, payment_intent: payment };
}
