import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { type Html, html } from '#kernel/text/html.ts';
import { granted, type Plane } from '#http/planes/planes.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { LETTER_STYLE } from '#mail/letter.ts';
import type { Mailbox, MailboxMessage } from '#mail/mailbox.ts';
import { card, linkLine, list } from '#web/components/parts.ts';
import type { OwnMachineCheck } from '#web/development/own-machine.ts';
import { MAILBOX_TEXTS as TEXTS } from '#web/development/texts.ts';
import { formatsOf } from '#web/format/formats.ts';
import { type Frame, pageOf } from '#web/frame/page-shell.ts';
import { STYLE } from '#web/assets/style.ts';

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policyOf(STYLE, "img-src 'self'; "), // The icon.
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
/**
 * The headers of a mail as HTML: it may use its style, and nothing else. `sandbox` takes away even what the policy
 * cannot name.
 */
const LETTER_HEADERS = { ...HEADERS, 'content-security-policy': `${policyOf(LETTER_STYLE)}; sandbox` };
/** An address in a text, without the full stop or comma that ends its sentence. */
const LINK = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)]/g;
/** What a letter sets apart to be copied. A token of a link is longer, and is not shown on the list. */
const CODE = /^ {4}(\S{4,12})$/m;
const messageParams = z.object({ messageId: z.string() });

/**
 * Adds `/dev/mailbox`, which shows every mail that a development service would have sent, with the codes and tokens in
 * it. Hence the check.
 */
export function addMailboxPages(
  plane: Plane,
  {
    mailbox,
    frame,
    assertOwnMachine,
  }: { readonly mailbox: Mailbox; readonly frame: Frame; readonly assertOwnMachine: OwnMachineCheck },
): void {
  const sendPage = (reply: FastifyReply, title: string, body: Html) =>
    reply.headers(HEADERS).send(pageOf({ title, body, frame }).text);
  const options = { config: { isPublic: true } };

  plane.get('/dev/mailbox', options, async (request, reply) => {
    assertOwnMachine(request);
    return sendPage(reply, TEXTS.title, listOf(await mailbox.list()));
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
        .send(granted(letter ?? refuse('NOT_FOUND', 'This e-mail has no HTML version.')));
    },
  );
}

/** Finds a message by the id in the address. Longer ids than the database has are not looked for. */
async function findMessage(mailbox: Mailbox, messageId: string): Promise<MailboxMessage> {
  const message = /^\d{1,18}$/.test(messageId) ? await mailbox.find(BigInt(messageId)) : undefined;
  return granted(message ?? refuse('NOT_FOUND', 'There is no such e-mail.'));
}

/**
 * Returns a policy that is stricter than that of other pages: a mail's text comes from anywhere, so nothing but the
 * style may be used.
 */
function policyOf(style: string, more = ''): string {
  return (
    `default-src 'none'; style-src 'sha256-${sha256(style).toString('base64')}'; ${more}base-uri 'none'; ` +
    `form-action 'none'; frame-ancestors 'none'`
  );
}

/** All mail, the newest first, with the codes in it: most visitors come for one. */
function listOf(messages: readonly MailboxMessage[]): Html {
  const items = messages.map((message) => {
    const code = CODE.exec(message.body ?? '')?.[1];
    return html`<div><a href="/dev/mailbox/${String(message.messageId)}">${message.subject}</a><br>
<span class="soft">${aboutOf(message)}</span></div>
${code === undefined ? undefined : html`<code class="code">${code}</code>`}`;
  });
  return html`<p>${TEXTS.what}</p>
${card(items.length === 0 ? html`<p>${TEXTS.none}</p>` : list(items))}
${linkLine('/', TEXTS.toStart)}`;
}

/** One mail as text, as it would be read without HTML. */
function messageOf(message: MailboxMessage): Html {
  const text = message.body === undefined ? TEXTS.deleted : linked(message.body);
  return html`${linkLine('/dev/mailbox', TEXTS.title)}
${card(html`<p class="soft">${aboutOf(message)}</p>`, html`<pre class="mail">${text}</pre>`)}
${message.html === undefined ? undefined : asHtml(message)}`;
}

function asHtml({ messageId }: MailboxMessage): Html {
  return html`<p>${TEXTS.hasHtml} <a href="/dev/mailbox/${String(messageId)}/html">${TEXTS.showHtml}</a></p>`;
}

/** Who gets a mail, when, and what became of it. */
function aboutOf({ recipient, atMs, outcome }: MailboxMessage): string {
  const fate = outcome === undefined ? '' : `, ${TEXTS.fate[outcome]}`;
  return `to ${recipient}, ${formatsOf().moment(atMs)}${fate}`;
}

/** The text of a mail, with its addresses as links: a developer wants to click them. */
function linked(text: string): Html {
  const links = Array.from(text.matchAll(LINK), ([link]) => html`<a href="${link}">${link}</a>`);
  return html`${text.split(LINK).map((words, index) => html`${words}${links[index]}`)}`;
}
