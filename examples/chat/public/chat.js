// The page of the chat. All text goes in as text, never as markup.

const find = (id) => document.getElementById(id);
const [status, messages, topup, form, question] = ['status', 'messages', 'topup', 'ask', 'question'].map(find);
const BACK = 'Come back here then: the answer goes on by itself.';
/** Each refusal that the user can do something about, in words of its own. */
const REASONS = {
  APP_SPEND_CAP_EXCEEDED: {
    title: 'You have reached your monthly cap',
    text: `You set a monthly cap for this app, and this answer would go beyond it. You can change it in your wallet. ${BACK}`,
    link: 'Change the cap',
  },
  PAYMENT_REQUIRED: {
    title: 'This answer needs money in your wallet',
    text: `The link opens a page where you can pay some in. ${BACK}`,
    link: 'Open the page',
  },
};
const NEWS = {
  'topup.completed': 'Your top-up has arrived.',
  'connection.created': 'Your wallet is connected.',
  'balance.low': 'Your balance is low.',
};
let reading;
let asked = 0;

async function showBalance() {
  const turn = (asked += 1);
  const response = await fetch('/balance').catch(() => undefined);
  if (response?.status === 401) location.assign('/');
  if (response?.ok !== true || turn !== asked) return; // A later look is under way.
  const { isConnected, isBlocked, availableMicros, currency } = await response.json();
  const money = { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: 6 };
  find('balance').value = isConnected
    ? new Intl.NumberFormat(undefined, money).format(availableMicros / 1_000_000)
    : 'No wallet yet';
  find('connect').textContent = isConnected ? 'Top up' : 'Connect a wallet';
  find('connect').hidden = isBlocked === true; // Paying in does not change that.
}

function addMessage(role, who, text) {
  const item = document.createElement('li');
  item.className = role;
  const name = document.createElement('b');
  name.textContent = who;
  const body = document.createElement('p');
  body.textContent = text;
  item.append(name, body);
  messages.append(item);
  item.scrollIntoView({ block: 'nearest' });
  return body;
}

function showBusy(isBusy) {
  find('send').disabled = isBusy;
  find('stop').hidden = !isBusy;
  find('log').setAttribute('aria-busy', String(isBusy)); // An answer is read out when it is whole.
  if (!isBusy) topup.hidden = true;
}

function showTopUp({ url, code }) {
  if (!/^https?:/.test(url)) return;
  const { title, text, link } = REASONS[code] ?? REASONS.PAYMENT_REQUIRED;
  find('topup-title').textContent = title;
  find('topup-text').textContent = text;
  find('topup-link').textContent = link;
  find('topup-link').href = url;
  topup.hidden = false;
  status.textContent = `${title}. The answer waits for you.`;
  topup.scrollIntoView({ block: 'nearest' });
}

/** Reads the answer, one JSON a line. */
async function follow(body, hear) {
  let rest = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split('\n');
    rest = lines.pop();
    for (const line of lines) hear(JSON.parse(line));
  }
}

async function ask(text) {
  reading = new AbortController();
  showBusy(true);
  status.textContent = 'The answer is on its way.';
  addMessage('user', 'You', text);
  let body;
  let end = 'The answer broke off.';
  try {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify({ text }), signal: reading.signal };
    const response = await fetch('/messages', request);
    if (!response.ok) throw new Error(await response.text());
    await follow(response.body, (news) => {
      if (news.type === 'topup') showTopUp(news);
      if (news.type === 'failed') end = news.message;
      if (news.type === 'done') end = '';
      if (news.type !== 'text') return;
      topup.hidden = true;
      status.textContent = '';
      body ??= addMessage('assistant', 'Answer', '');
      body.textContent += news.text;
    });
  } catch (fault) {
    if (reading.signal.aborted) end = 'Stopped.';
    else if (fault.message !== '') end = fault.message;
  }
  status.textContent = end;
  showBusy(false);
  await showBalance();
}

async function connect() {
  const response = await fetch('/connect', { method: 'POST' }).catch(() => undefined);
  if (response?.ok === true) location.assign((await response.json()).url);
  else status.textContent = 'The wallet service does not answer. Try again.';
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const text = question.value.trim();
  if (text === '' || find('send').disabled) return;
  question.value = '';
  void ask(text);
});
question.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
find('stop').addEventListener('click', () => reading.abort());
find('connect').addEventListener('click', () => void connect());
const events = new EventSource('/events');
events.addEventListener('message', ({ data }) => {
  const news = NEWS[JSON.parse(data).type];
  // While an answer is under way the line tells of that: what it waits for, say.
  if (news !== undefined && !find('send').disabled) status.textContent = news;
  void showBalance();
});
// Refused, not only broken off: the session is over, in another tab perhaps. The balance is refused too, and leads to the sign-in.
events.addEventListener('error', () => {
  if (events.readyState === EventSource.CLOSED) void showBalance();
});
void showBalance();
