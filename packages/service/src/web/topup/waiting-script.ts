import { scriptOf } from '#web/assets/page-policy.ts';

/**
 * Gets the page again every second until the payment has arrived, and then shows the new content in place of the old: a page that
 * reloads itself would lose the place of a screen reader. After a minute it says that it takes longer, and asks every ten seconds.
 */
export const WAITING_SCRIPT = scriptOf(`(() => {
const part = (name, page) => page.querySelector(name);
let looks = 0;
const look = async () => {
  looks += 1;
  if (looks === 60) part('#slow', document).hidden = false;
  try {
    const reply = await fetch(location.href, { cache: 'no-store' });
    const seen = new DOMParser().parseFromString(await reply.text(), 'text/html');
    if (reply.ok && !part('#slow', seen)) {
      for (const name of ['h1', '#arrival']) part(name, document).replaceChildren(...part(name, seen).childNodes);
      document.title = seen.title;
      part('#slow', document).remove();
      return;
    }
  } catch {}
  setTimeout(look, looks < 60 ? 1000 : 10000);
};
setTimeout(look, 1000);
})();`);
