import type { Purser, PurserUser } from '@purser/sdk';
import OpenAI from 'openai';
import { explain, logFault } from './fault.ts';
import type { Session } from './sessions.ts';

/** What the page is told while an answer is made, one JSON a line. */
type News =
  /** Tells the user to pay at `url`. The answer then goes on by itself. */
  | { readonly type: 'topup'; readonly url: string; readonly code: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly message: string };

interface Asked {
  readonly session: Session;
  readonly question: string;
  readonly purser: Purser;
  readonly model: string;
  readonly tell: (news: News) => void;
  /** Fires when the reader has left or their session is over. Then the call, or the wait for the wallet, is given up. */
  readonly signal: AbortSignal;
}

const MESSAGES_MAX = 20;
const POLL_MS = 2_000;

/** Answers a question of a session's user, at that user's expense. What goes wrong is told and logged, never thrown. */
export async function answer(asked: Asked): Promise<void> {
  const { session, question, purser, tell, signal } = asked;
  const said = { text: '' };
  try {
    await stream(purser.forUser(session.account.userId), asked, (text) => {
      said.text += text;
      tell({ type: 'text', text });
    });
    tell({ type: 'done' });
  } catch (fault) {
    if (!signal.aborted) {
      logFault('An answer failed', fault);
      tell({ type: 'failed', message: explain(fault) });
    }
  }
  if (said.text === '') return;
  session.messages.push({ role: 'user', content: question }, { role: 'assistant', content: said.text });
  session.messages.splice(0, session.messages.length - MESSAGES_MAX);
}

async function stream(
  user: PurserUser,
  { session, question, model, tell, signal }: Asked,
  hear: (text: string) => void,
): Promise<void> {
  const client = new OpenAI(user.openai());
  const messages = [...session.messages, { role: 'user' as const, content: question }];
  // Refused for want of money, it waits here until the wallet has some, and begins once more.
  const chunks = await user.withTopUp(
    () => client.chat.completions.create({ model, messages, stream: true }, { signal }),
    { onTopUp: ({ topupUrl, code }) => tell({ type: 'topup', url: topupUrl, code }), signal, pollMs: POLL_MS },
  );
  for await (const { choices } of chunks) {
    const text = choices[0]?.delta.content ?? '';
    if (text !== '') hear(text);
  }
}
