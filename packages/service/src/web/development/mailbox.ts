import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { Html, html } from '#kernel/html.ts';
import { granted, type Plane } from '#http/planes.ts';
import { isoOf } from '#kernel/clock.ts';
import { sha256 } from '#kernel/crypto.ts';
import { refuse } from '#kernel/refusal.ts';
import { LETTER_STYLE } from '#mail/letter.ts';
import type { Mailbox, MailboxMessage } from '#mail/mailbox.ts';
import type { OwnMachineCheck } from '#web/development/own-machine.ts';

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
/** For a mail as HTML: it may use its style, and nothing else. `sandbox` takes away even what the policy cannot name. */
const LETTER_HEADERS = { ...HEADERS, 'content-security-policy': `${policyOf(LETTER_STYLE)}; sandbox` };
/** An address in a text, without the full stop or comma that ends its sentence. */
const LINK = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/g;
const messageParams = z.object({ messageId: z.string() });

/** `/dev/mailbox`: every mail that a development service would have sent, with the codes and tokens in it. Hence the check. */
export function addMailboxPages(plane: Plane, mailbox: Mailbox, assertOwnMachine: OwnMachineCheck): void {
  const options = { config: { isPublic: true } };

  plane.get('/dev/mailbox', options, async (request, reply) => {
    assertOwnMachine(request);
    return sendPage(reply, 'Mailbox', listOf(await mailbox.list()));
  });

  plane.get('/dev/mailbox/:messageId', { ...options, schema: { params: messageParams } }, async (request, reply) => {
    assertOwnMachine(request);
    const found = await findMessage(mailbox, request.params.messageId);
    return sendPage(reply, found.subject, messageOf(found));
  });

  plane.get(
    '/dev/mailbox/:messageId/html',
    { ...options, schema: { params: messageParams } },
    async (request, reply) => {
      assertOwnMachine(request);
      const { html: letter } = await findMessage(mailbox, request.params.messageId);
      return reply
        .headers(LETTER_HEADERS)
        .send(granted(letter ?? refuse('NOT_FOUND', 'This message has no HTML version.')));
    },
  );
}

/** By the id in the address. Longer ids than the database has are not looked for. */
async function findMessage(mailbox: Mailbox, messageId: string): Promise<MailboxMessage> {
  const message = /^\d{1,18}$/.test(messageId) ? await mailbox.find(BigInt(messageId)) : undefined;
  return granted(message ?? refuse('NOT_FOUND', 'There is no such message.'));
}

/** Stricter than that of other pages: a mail's text comes from anywhere, so nothing but the style may be used. */
function policyOf(style: string): string {
  return (
    `default-src 'none'; style-src 'sha256-${sha256(style).toString('base64')}'; base-uri 'none'; ` +
    `form-action 'none'; frame-ancestors 'none'`
  );
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

/** All mail, the newest first. */
function listOf(messages: readonly MailboxMessage[]): Html {
  const items = messages.map(
    (
      message,
    ) => html`<li><a href="/dev/mailbox/${String(message.messageId)}">${message.subject}</a>${aboutOf(message)}</li>
`,
  );
  const none = html`<p>No mail yet. This page shows every mail that this development service sends.</p>`;
  return html`<h1>Mailbox</h1>
${items.length === 0 ? none : html`<ul>${items}</ul>`}`;
}

/** One mail as text, as it would be read without HTML. */
function messageOf(message: MailboxMessage): Html {
  const text = message.body === undefined ? 'The text was deleted.' : linked(message.body);
  return html`<p><a href="/dev/mailbox">Mailbox</a></p>
<h1>${message.subject}</h1>
${aboutOf(message)}
<pre>${text}</pre>
${message.html === undefined ? undefined : asHtml(message)}`;
}

function asHtml({ messageId }: MailboxMessage): Html {
  return html`<p>The mail also has an HTML version: <a href="/dev/mailbox/${String(messageId)}/html">show it</a>.</p>`;
}

/** Who gets a mail, when, and what became of it. */
function aboutOf({ recipient, atMs, outcome }: MailboxMessage): Html {
  const fate = { taken: ', sent', refused: ', refused by the mail server', given_up: ', not sent' } as const;
  return html`<small>to ${recipient}, ${isoOf(atMs)}${outcome === undefined ? '' : fate[outcome]}</small>`;
}

/** The text of a mail, with its addresses as links: a developer wants to click them. */
function linked(text: string): Html {
  const links = Array.from(text.matchAll(LINK), ([link]) => html`<a href="${link}">${link}</a>`);
  return html`${text.split(LINK).map((words, index) => html`${words}${links[index]}`)}`;
}
