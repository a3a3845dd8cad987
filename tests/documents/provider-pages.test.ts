import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { readDocument } from './documents.ts';
import { blocksOf } from '../support/sdk-package.ts';

/** Compares the pages of the provider families with one another, and each with the catalogue entry that it shows. */

const FOLDER = 'docs/guides/providers';
const HEADINGS = ['Key', 'Permissions', 'Catalogue entry', 'Prices', 'Traps', 'Try it'];
/** A part with fewer words says nothing. */
const WORDS_MIN = 20;
const MICROS = 1_000_000;

for (const name of readdirSync(path.join(ROOT, FOLDER))) {
  const page = `${FOLDER}/${name}`;

  test(`MO-06 ${page} has every family page's parts in the same order`, () => {
    const [, ...parts] = readDocument(page).split(/^## /m);
    assert.deepEqual(
      parts.map((part) => part.slice(0, part.indexOf('\n'))),
      HEADINGS,
    );
    for (const part of parts) assert.ok(part.split(/\s+/).length > WORDS_MIN, part);
  });

  test(`MO-08 the commands of ${page} cost what its entry says`, () => {
    const blocks = blocksOf(page);
    const entry = blocks.find(({ file }) => file === 'catalogue');
    const catalogue = parseCatalogueFile(entry?.code ?? '');
    const commands = blocks.filter(({ heading, language }) => heading === 'Try it' && language === 'sh');
    const text = commands.map(({ code }) => code).join('\n');
    const [, probed] = / catalogue probe (\S+) --yes/.exec(text) ?? [];
    const [, called] = /"model":"([^"]+)"/.exec(text) ?? [];
    const answer = blocks.find(({ file }) => file === 'answer')?.code ?? '';
    const [, answered] = /"model":"([^"]+)"/.exec(answer) ?? [];
    const model = catalogue.models.find(({ id }) => id === probed);
    assert.ok(model?.price !== undefined, probed ?? page);
    assert.deepEqual([called, answered], [probed, probed]);
    assert.equal(model.marginBasisPoints ?? 0, 0); // The pages show prices without a margin.

    const [, prompt] = /"prompt_tokens":(\d+)/.exec(answer) ?? [];
    const [, completion] = /"completion_tokens":(\d+)/.exec(answer) ?? [];
    const { inputMicrosPerMillion, outputMicrosPerMillion } = model.price;
    const cost = Number(prompt) * inputMicrosPerMillion + Number(completion) * outputMicrosPerMillion;
    const [, charge] = /^x-service-charge-micros: (\d+)$/m.exec(answer) ?? [];
    assert.equal(Number(charge), Math.ceil(cost / MICROS));
  });
}

/** What carries no restriction: open weights, one vendor's family, and names that stand for no real model (MO-04). */
const OPEN_FAMILIES = ['meta.llama', 'amazon.nova', 'vendor.', 'purser.'];

test('MO-04 examples reserve proprietary families, and open Nova and open weights', () => {
  const guides = ['providers', 'operator'].flatMap((folder) =>
    readdirSync(path.join(ROOT, 'docs/guides', folder)).map((name) => `docs/guides/${folder}/${name}`),
  );
  const blocks = guides.flatMap((page) => blocksOf(page).filter(({ file }) => file === 'catalogue'));
  const files = ['packages/service/demo-catalogue.json', 'deploy/kubernetes/settings/catalogue.json'];
  const models = [...blocks.map(({ code }) => code), ...files.map(readDocument)].flatMap(
    (text) => parseCatalogueFile(text).models,
  );
  assert.ok(models.length > 10, String(models.length));
  for (const { id, resale } of models) {
    const isOpen = OPEN_FAMILIES.some((family) => id.startsWith(family));
    assert.equal(resale, isOpen ? 'open' : 'reserved', id);
  }
});
