import { SANDBOX_OUTCOMES } from '@purser/contract/sandbox.ts';
import { offersTo } from '#catalogue/shown-price.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { errorSummary, warningNotice } from '#web/components/notices.ts';
import { button, section } from '#web/components/parts.ts';
import { checkboxField, selectField, textArea, textField } from '#web/fields/fields.ts';
import { type AppRequest, forApp, showAppPage, verifyFirst } from '#web/console/frame/app-page.ts';
import { answerView, type MadeCall, type Typed, typedOf, wantedOf } from '#web/console/playground/playground-call.ts';
import { PLAYGROUND_TEXTS as TEXTS } from '#web/console/playground/texts.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/form.ts';

const EMPTY: Typed = { user: 'test-user', model: '', message: 'Hello!', output: '', isStream: false };

/**
 * Makes at `/console/:part/playground` one call through the data plane, and shows everything that came back. The answer
 * is part of the page that answers the form: nothing of it is kept, so there is no address to lead to.
 */
export const playgroundPage = forApp({
  GET: (asked) => {
    const usual = asked.mode === 'live' ? '' : EMPTY.user;
    return showPlayground(asked, { ...EMPTY, user: asked.request.query.get('user') ?? usual });
  },
  POST: async (asked, form) => {
    const typed = typedOf(form);
    const made = await makeCall(asked, form);
    if (made instanceof Refusal) return showPlayground(asked, typed, { refusal: made });
    return showPlayground(asked, typed, { view: await answerView(asked, made) });
  },
});

async function makeCall(asked: AppRequest, form: Form): Promise<MadeCall | Refusal> {
  const { services, app, mode, owner, request } = asked;
  const wanted = wantedOf(typedOf(form), modelsOf(asked));
  if (typeof wanted === 'string') return refuse('BAD_REQUEST', wanted);
  if (mode === 'live' && form.field('confirm') !== 'yes') return refuse('BAD_REQUEST', TEXTS.confirmFault);
  const key = await services.playgroundKeys.make({ owner, appId: app.appId, mode, ...wanted });
  if (key instanceof Refusal) return key;
  const left = new AbortController();
  const { response } = request.exchange;
  const onClose = (): void => left.abort();
  response.once('close', onClose);
  const begunMs = services.clock.nowMs();
  try {
    const answer = await services.ownCalls.post({
      path: '/v1/chat/completions',
      headers: {
        authorization: `Bearer ${key}`,
        'x-service-user': wanted.userId,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: wanted.body,
      signal: left.signal,
    });
    return { wanted, answer, tookMs: services.clock.nowMs() - begunMs };
  } finally {
    response.off('close', onClose);
  }
}

/** Those that chat: the page has no form for vectors. */
function modelsOf({ services: { catalogue }, app, mode }: AppRequest): readonly string[] {
  const chatting = offersTo(app, catalogue).filter(({ model }) => model.dimensionsMax === undefined);
  const names = chatting.map(({ name }) => name);
  return mode === 'live' ? names : [...names, ...SANDBOX_OUTCOMES.map((name) => `sandbox/${name}`)];
}

interface Shown {
  readonly refusal?: Refusal;
  readonly view?: Html;
}

function showPlayground(asked: AppRequest, typed: Typed, { refusal, view }: Shown = {}): PageResponse {
  const isLive = asked.mode === 'live';
  const form = section({ id: 'request', heading: TEXTS.request, body: [formOf(asked, typed)] });
  const body = html`${errorSummary(refusal?.message)}
<p class="soft">${TEXTS.what}${isLive ? undefined : html` ${TEXTS.sandboxNote}`}</p>
${isLive ? warningNotice(TEXTS.liveWarning) : undefined}
${view === undefined ? form : html`<div class="columns">\n${form}\n<div>${view}</div>\n</div>`}`;
  return showAppPage(asked, { title: TEXTS.title, body, page: 'playground', refusal });
}

function formOf(asked: AppRequest, typed: Typed): Html {
  const isLive = asked.mode === 'live';
  const choices = modelsOf(asked).map((name) => ({
    value: name,
    text: name,
    isChosen: name === typed.model,
  }));
  const hint = isLive ? TEXTS.liveUserHint : TEXTS.userHint;
  const fields = html`${selectField({ name: 'model', label: TEXTS.model, choices })}
${textField({ name: 'user', label: TEXTS.user, value: typed.user, hint, lengthMax: 256, isRequired: true, autocomplete: 'off' })}
${textArea({ name: 'message', label: TEXTS.message, value: typed.message, hint: TEXTS.messageHint })}
${textField({ name: 'output', label: TEXTS.output, value: typed.output, hint: TEXTS.outputHint, inputMode: 'numeric', lengthMax: 7, autocomplete: 'off' })}
${checkboxField({ name: 'stream', label: TEXTS.stream, value: 'yes', isChecked: typed.isStream })}
${isLive ? checkboxField({ name: 'confirm', label: TEXTS.confirm, value: 'yes', isRequired: true }) : undefined}
${button(isLive ? TEXTS.sendLive : TEXTS.send)}`;
  if (!asked.may('playground')) return asked.tooLow();
  return verifyFirst(asked) ?? asked.request.form(asked.to('playground'), fields);
}
