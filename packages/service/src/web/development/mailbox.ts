import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Html, html } from '#kernel/html.ts';
import { granted, type Plane } from '#http/planes.ts';
import { isOfThisMachine } from '#http/this-machine.ts';
import { isoOf } from '#kernel/clock.ts';
import { sha256 } from '#kernel/crypto.ts';
import { refuse } from '#kernel/refusal.ts';
import { LETTER_STYLE } from '#mail/letter.ts';
import type { Mailbox, MailboxMessage } from '#mail/mailbox.ts';

interface MailboxPages {
  readonly mailbox: Mailbox;
  /** Its name is one of those by which the pages may be called. */
  readonly publicUrl: string;
}

const STYLE = `:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 1rem }
li { margin: .75rem 0 }
small { display: block; opacity: .75 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid; border-radius: .5rem; padding: 1rem }`;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyOf(STYLE),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
const OWN_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Of a mail as HTML: what it looks like, and no right at all. */
const LETTER_HEADERS = { ...HEADERS, 'content-security-policy': `${policyOf(LETTER_STYLE)}; sandbox` };
/** Without the full stop, or the like, that ends the sentence. */
const LINK = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/g;
const messageParams = z.object({ messageId: z.string() });

/**
 * The mailbox of a development service: every mail that it would have sent, tokens and all. It is for a browser on this
 * machine, and under a name of this service, so that no other site can have its address lead here and read it.
 */
export function addMailboxPages(plane: Plane, { mailbox, publicUrl }: MailboxPages): void {
  const names = new Set([...OWN_NAMES, new URL(publicUrl).hostname]);
  const options = { config: { isPublic: true } };

  plane.get('/dev/mailbox', options, async (request, reply) => {
    assertOwner(request, names);
    return sendPage(reply, 'Mailbox', listOf(await mailbox.list()));
  });

  plane.get('/dev/mailbox/:messageId', { ...options, schema: { params: messageParams } }, async (request, reply) => {
    assertOwner(request, names);
    const found = await findMessage(mailbox, request.params.messageId);
    return sendPage(reply, found.subject, messageOf(found));
  });

  plane.get(
    '/dev/mailbox/:messageId/html',
    { ...options, schema: { params: messageParams } },
    async (request, reply) => {
      assertOwner(request, names);
      const { html: letter } = await findMessage(mailbox, request.params.messageId);
      return reply.headers(LETTER_HEADERS).send(granted(letter ?? refuse('NOT_FOUND', 'This message has no HTML.')));
    },
  );
}

async function findMessage(mailbox: Mailbox, messageId: string): Promise<MailboxMessage> {
  const message = /^\d{1,18}$/.test(messageId) ? await mailbox.find(BigInt(messageId)) : undefined;
  return granted(message ?? refuse('NOT_FOUND', 'There is no such message.'));
}

function policyOf(style: string): string {
  return (
    `default-src 'none'; style-src 'sha256-${sha256(style).toString('base64')}'; base-uri 'none'; ` +
    `form-action 'none'; frame-ancestors 'none'`
  );
}

/** For others there is nothing here. */
function assertOwner({ raw, headers }: FastifyRequest, names: ReadonlySet<string>): void {
  const name = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
  if (isOfThisMachine(raw) && names.has(name)) return;
  granted(refuse('NOT_FOUND', 'The mailbox is for a browser on the machine of the service, at http://localhost.'));
}

function sendPage(reply: FastifyReply, title: string, body: Html): FastifyReply {
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
<main>
${body}
</main>
</html>
`;
  return reply.headers(HEADERS).send(page.text);
}

function listOf(messages: readonly MailboxMessage[]): Html {
  const items = messages.map(
    (
      message,
    ) => html`<li><a href="/dev/mailbox/${String(message.messageId)}">${message.subject}</a>${aboutOf(message)}</li>
`,
  );
  const none = html`<p>No mail yet. What this development service sends to anybody is shown here.</p>`;
  return html`<h1>Mailbox</h1>
${items.length === 0 ? none : html`<ul>${items}</ul>`}`;
}

function messageOf(message: MailboxMessage): Html {
  const text = message.body === undefined ? 'The text is gone.' : linked(message.body);
  return html`<p><a href="/dev/mailbox">Mailbox</a></p>
<h1>${message.subject}</h1>
${aboutOf(message)}
<pre>${text}</pre>
${message.html === undefined ? undefined : asHtml(message)}`;
}

function asHtml({ messageId }: MailboxMessage): Html {
  return html`<p>The mail has the same words as HTML: <a href="/dev/mailbox/${String(messageId)}/html">show it</a>.</p>`;
}

function aboutOf({ recipient, atMs, outcome }: MailboxMessage): Html {
  const fate = { taken: ', sent', refused: ', refused by the mail server', given_up: ', not sent' } as const;
  return html`<small>to ${recipient}, ${isoOf(atMs)}${outcome === undefined ? '' : fate[outcome]}</small>`;
}

/** The text, with its addresses as links. */
function linked(text: string): Html {
  const links = Array.from(text.matchAll(LINK), ([link]) => html`<a href="${link}">${link}</a>`);
  return html`${text.split(LINK).map((words, index) => html`${words}${links[index]}`)}`;
}
