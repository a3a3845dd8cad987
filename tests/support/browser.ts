import assert from 'node:assert/strict';
import { type Reply, send } from './client.ts';

/** A browser without scripts. It keeps cookies and submits the forms of the page it shows. */
export type Browser = ReturnType<typeof openBrowser>;

interface Asked {
  readonly form?: Readonly<Record<string, string>>;
  /** The origin that is sent. It is undefined if none is sent. */
  readonly origin?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const REDIRECTS_MAX = 5;

/** Opens a browser. `origin` is the service's public one. */
export function openBrowser(url: string, origin = 'https://purser.test') {
  const cookies = new Map<string, string>();
  let shown: Reply | undefined;

  async function ask(path: string, { form, headers = {}, ...asked }: Asked = {}): Promise<Reply> {
    const from = 'origin' in asked ? asked.origin : origin;
    const kept = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await send(path, {
      url,
      headers: {
        ...(kept === '' ? {} : { cookie: kept }),
        ...(form === undefined ? {} : { ...type, ...(from === undefined ? {} : { origin: from }) }),
        ...headers,
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
    });
    for (const line of reply.headers.getSetCookie()) keep(cookies, line);
    return reply;
  }

  async function follow(first: Reply): Promise<Reply> {
    shown = first;
    for (let times = 0; shown.status === 303; times += 1) {
      assert.ok(times < REDIRECTS_MAX, 'the way ends');
      const location = shown.headers.get('location') ?? '';
      shown = await ask(location.startsWith(`${origin}/`) ? location.slice(origin.length) : location);
    }
    return shown;
  }

  function fieldsOf(action: string, which = ''): Record<string, string> {
    const forms = [...(shown?.text ?? '').matchAll(/<form method="post" action="([^"]+)"[^>]*>([^]*?)<\/form>/g)];
    const form = forms.find(([all, target = '']) => target.replaceAll('&#38;', '&') === action && all.includes(which));
    assert.ok(form !== undefined, `the page has a form to ${action}: ${shown?.text}`);
    const inputs = ((form[2] ?? '').match(/<input [^>]+>/g) ?? []).filter(isSent);
    return Object.fromEntries(inputs.map((input) => [attributeOf(input, 'name'), attributeOf(input, 'value')]));
  }

  return {
    /** Opens a page and follows its redirects. */
    open: async (path: string) => follow(await ask(path)),
    /** Sends one request without following redirects. */
    ask,
    /** Fills in the page's form that posts to `action`, submits it and follows the redirects. */
    submit: async (action: string, fields: Readonly<Record<string, string>> = {}, which?: string) =>
      follow(await ask(action, { form: { ...fieldsOf(action, which), ...fields } })),
    /** The fields that a form of the page would send unfilled. `which`: a text that the form must contain. */
    fieldsOf,
    cookies,
    /** The page that it shows. */
    page: () => shown ?? assert.fail('no page was opened'),
  };
}

/** A box that nobody has checked is not sent. A required one counts as checked. */
function isSent(input: string): boolean {
  return !input.includes(' type="checkbox"') || / (?:checked|required)\b/.test(input);
}

function attributeOf(element: string, name: string): string {
  const written = new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1] ?? '';
  return written.replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
}

function keep(cookies: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  if (/; Max-Age=0(;|$)/.test(line)) cookies.delete(name);
  else cookies.set(name, value);
}
