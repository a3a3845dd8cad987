import { barChart } from '#web/figures/bar-chart.ts';
import { button, codeBlock, codeTabs } from '#web/components/parts.ts';
import { confirmation } from '#web/components/notices.ts';
import { figures } from '#web/figures/figures.ts';
import { filterForm } from '#web/fields/filter.ts';
import { provenForm, textArea } from '#web/fields/fields.ts';
import { html } from '#kernel/text/html.ts';
import { type ComponentSample, sample } from '#web/development/samples/sample.ts';
import { AT_MS, ENGLISH, HERE, LONG_NAME, MOST, TINY } from '#web/development/samples/sample-values.ts';
import { sessionList, shortSession } from '#web/figures/session-list.ts';
import type { UsedSession } from '#kernel/calls/session-page.ts';

/** What pages of the console are made of besides. */
export const CONSOLE: readonly ComponentSample[] = [
  sample(figures, {
    three: () =>
      figures([
        { name: 'Calls', value: '12,480', note: '3 % more than the week before' },
        { name: 'Spent', value: '€41.20', before: '7 days before: €39.10' },
        { name: 'Refused', value: html`<a href="${HERE}">214</a>`, note: 'mostly for funds' },
      ]),
  }),
  sample(barChart, {
    'two series': (id) => chartOf(id, [4, 9, 0, 13, 22, 17, 8]),
    'nothing yet': (id) => chartOf(id, [0, 0, 0, 0, 0, 0, 0]),
  }),
  sample(codeBlock, {
    'a command': (id) => codeBlock({ id, label: 'curl', code: `curl ${HERE} \\\n  --header 'x-service-user: anna'` }),
    'text that wraps': (id) => codeBlock({ id, label: 'A key', code: LONG_NAME, wraps: true }),
    'with a note': (id) => codeBlock({ id, label: 'Shell', code: 'claude', note: 'Go on with claude --continue.' }),
  }),
  sample(codeTabs, {
    'two languages': (id) =>
      codeTabs(`${id}-tabs`, 'Language', [
        { id: `${id}-curl`, label: 'curl', code: `curl ${HERE}` },
        { id: `${id}-python`, label: 'Python', code: 'print("Hello")' },
      ]),
  }),
  sample(filterForm, {
    'a time, in UTC': (id) =>
      filterForm(HERE, 'live', [
        { name: `${id}-from`, label: 'From (UTC)', value: '2026-11-23T09:30', type: 'datetime-local' },
      ]),
    'a text and a list': (id) =>
      filterForm(HERE, 'sandbox', [
        { name: `${id}-user`, label: 'User', value: 'anna' },
        {
          name: `${id}-outcome`,
          label: 'Outcome',
          value: 'charged',
          choices: [
            { value: '', text: 'All' },
            { value: 'charged', text: 'Charged' },
          ],
        },
      ]),
  }),
  sample(textArea, {
    'two lines, with a hint': (id) =>
      textArea({ name: id, label: 'Redirect addresses', value: `${HERE}\n${HERE}`, hint: 'One on each line.' }),
    wrong: (id) => textArea({ name: id, label: 'Redirect addresses', value: 'nowhere', isInvalid: true }),
  }),
  sample(confirmation, {
    closed: () =>
      confirmation({
        act: 'Revoke this key',
        what: 'Calls with it are refused from then on. It cannot be undone.',
        form: provenForm({ action: HERE, proof: 'sample', fields: button('Revoke', { kind: 'danger' }) }),
      }),
  }),
];

/** A week of calls, of which every fifth was refused. */
function chartOf(id: string, calls: readonly number[]) {
  return barChart({
    id,
    caption: 'Calls in a week',
    series: [
      { name: 'charged', kind: 'main' },
      { name: 'refused', kind: 'rare' },
    ],
    slots: calls.map((count, at) => ({
      label: `${at + 1} Nov`,
      parts: [count, Math.floor(count / 5)].map((size) => ({ size, text: String(size) })),
    })),
    axis: String,
  });
}

const OF_AGENT: UsedSession = {
  name: '0199f3a2-5c1b-7d10-9a44-1f2e3d4c5b6a',
  client: 'claude-code',
  begunAtMs: AT_MS - 5_400_000,
  lastAtMs: AT_MS,
  calls: 12_043,
  charged: MOST.amount,
  place: '2',
};
const OF_ANOTHER: UsedSession = {
  ...OF_AGENT,
  name: 's-1',
  client: undefined,
  calls: 1,
  charged: TINY.amount,
  place: '1',
};
const WORDS = { caption: 'Sessions', currency: 'EUR', empty: 'No session yet.' };

/** What pages say about the sessions of coding agents. */
export const SESSIONS: readonly ComponentSample[] = [
  sample(sessionList, {
    'without links': () => sessionList([OF_AGENT, OF_ANOTHER], WORDS, ENGLISH),
    'with links': () => sessionList([OF_AGENT], { ...WORDS, hrefOf: () => HERE }, ENGLISH),
    'no session': () => sessionList([], WORDS, ENGLISH),
  }),
  sample(shortSession, {
    'a long name': () => shortSession(OF_AGENT.name),
    'a short name': () => shortSession(OF_ANOTHER.name),
  }),
];
