import { scriptOf } from '#web/assets/page-policy.ts';

/**
 * The only script of the console: buttons that copy, forms that a double press sends once, and parts of a page that stay current. A part with `data-live` and an
 * id is replaced every ten seconds, or as many as `data-live` says, by the same part of the page as it is then, unless somebody
 * is using it. Pages work without: then the buttons stay hidden, and reloading does the rest.
 */
export const CONSOLE_SCRIPT = scriptOf(`
for (const button of document.querySelectorAll('button[data-copy]')) {
  if (!navigator.clipboard) break;
  const before = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = before; }, 2000);
  });
}
addEventListener('submit', (event) => {
  const form = event.target;
  if (form.method !== 'post') return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = 'yes';
  setTimeout(() => { delete form.dataset.sent; }, 5000);
});
const parts = [...document.querySelectorAll('[data-live]')];
const pauseMs = 1000 * (Number(parts[0]?.dataset.live) || 10);
const keepCurrent = async () => {
  const answer = document.hidden ? undefined : await fetch(location.href).catch(() => undefined);
  if (answer?.ok && !answer.redirected) {
    const now = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const part of parts) {
      const next = now.getElementById(part.id);
      if (next && next.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) part.replaceChildren(...next.childNodes);
    }
  }
  setTimeout(keepCurrent, pauseMs);
};
if (parts.length > 0) setTimeout(keepCurrent, pauseMs);
`);
