import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { galleryPage } from '#web/development/component-gallery.ts';
import { COMPONENT_SAMPLES } from '#web/development/samples/component-samples.ts';

const ROOMS = ['components', 'fields', 'figures'].map((room) => path.join(import.meta.dirname, '..', room));

/** Every function that the files of these rooms export. */
async function exportedComponents(): Promise<ReadonlyMap<unknown, string>> {
  const files = ROOMS.flatMap((room) => readdirSync(room).map((name) => path.join(room, name)));
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const modules = await Promise.all(
    sources.map(async (file) => (await import(file)) as Readonly<Record<string, unknown>>),
  );
  const exported = modules.flatMap((module) => Object.entries(module));
  return new Map(exported.filter(([, value]) => typeof value === 'function').map(([name, value]) => [value, name]));
}

test('PG-06 /dev/components shows every exported component, and nothing else', async () => {
  const exported = await exportedComponents();
  assert.ok(exported.size > 15, String(exported.size));
  const shown = new Set<unknown>(COMPONENT_SAMPLES.map(({ component }) => component));
  const missing = [...exported].filter(([component]) => !shown.has(component)).map(([, name]) => name);
  assert.deepEqual(missing, [], 'components without a sample in development/samples');
  assert.equal(shown.size, exported.size);
});

test('PG-06 the page shows each state in both looks', () => {
  const { text } = galleryPage();
  for (const { component, states } of COMPONENT_SAMPLES) {
    assert.ok(Object.keys(states).length > 0, component.name);
    for (const [at, show] of Object.values(states).entries()) {
      for (const look of ['light', 'dark']) {
        const made = show(`${component.name}-${at}-${look}`)?.text ?? '';
        assert.ok(
          made !== '' && text.includes(`<div class="look ${look}">${made}</div>`),
          `${component.name} ${at} ${look}`,
        );
      }
    }
  }
});

test('PG-06 no id occurs twice on the page', () => {
  const ids = Array.from(galleryPage().text.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
});
