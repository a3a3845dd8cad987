import type { Message, Session } from './sessions.ts';

const WHO = { user: 'You', assistant: 'Answer' } as const;

export function signInPage(alert?: string): string {
  return layout(
    'Sign in',
    `<h1>Sign in to Chat</h1>
${alert === undefined ? '' : `<p class="alert" role="alert">${escape(alert)}</p>`}
<form class="card" method="post" action="/sign-in">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" maxlength="80" required>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" minlength="8" maxlength="200" aria-describedby="hint" required>
<p class="hint" id="hint">Eight characters or more. A name that is new here gets an account.</p>
<button>Sign in</button>
</form>`,
  );
}

export function chatPage({ account, messages, notice }: Session): string {
  return layout(
    'Chat',
    `<h1>Chat</h1>
<section class="card wallet" aria-label="Wallet">
<p>Your balance<br><output id="balance">…</output></p>
<button id="connect" class="quiet" type="button">Top up</button>
</section>
<div id="log" role="log" aria-label="Messages"><ol id="messages">${messages.map(messageOf).join('')}</ol></div>
<section id="topup" class="card" aria-labelledby="topup-title" hidden>
<h2 id="topup-title"></h2>
<p id="topup-text"></p>
<a id="topup-link" class="button" target="_blank" rel="noopener noreferrer"></a>
</section>
<p id="status" role="status">${escape(notice ?? '')}</p>
<form id="ask" class="card">
<label for="question">Your message</label>
<textarea id="question" rows="2" maxlength="4000" required></textarea>
<div class="row"><button id="send">Send</button><button id="stop" class="quiet" type="button" hidden>Stop</button></div>
</form>
<noscript><p class="alert">This page needs scripts.</p></noscript>
<script src="/chat.js" type="module"></script>`,
    `<form class="row" method="post" action="/sign-out"><span>${escape(account.name)}</span><button class="quiet">Sign out</button></form>`,
  );
}

export function faultPage(title: string, text: string): string {
  return layout(title, `<h1>${escape(title)}</h1>\n<p>${escape(text)}</p>\n<p><a href="/">Go to the chat</a></p>`);
}

function messageOf({ role, content }: Message): string {
  return `<li class="${role}"><b>${WHO[role]}</b><p>${escape(content)}</p></li>`;
}

function layout(title: string, main: string, account = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} - Purser example</title>
<link rel="stylesheet" href="/chat.css">
</head>
<body>
<header><span class="mark">Purser example</span>${account}</header>
<main>
${main}
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
