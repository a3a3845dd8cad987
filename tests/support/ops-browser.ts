import { openBrowser } from './browser.ts';
import type { Person } from './control.ts';
import type { TestService } from './service.ts';

/** A browser in which an operator is signed in, and which also sends a form with a file. */
export function operatorBrowser({ url }: TestService, { token = '' }: Person) {
  const browser = openBrowser(url);
  browser.cookies.set('__Host-purser-session', token);
  return {
    ...browser,
    sendFile: async (path: string, fields: Readonly<Record<string, string>>, file: Buffer) => {
      await browser.open(path);
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...browser.fieldsOf(path), ...fields })) {
        if (name !== 'file') form.append(name, value);
      }
      form.append('file', new Blob([new Uint8Array(file)]), 'report.csv');
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { cookie, origin: 'https://purser.test', 'accept-language': 'en' };
      const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: form, redirect: 'manual' });
      return { status: reply.status, text: await reply.text(), headers: reply.headers };
    },
  };
}
