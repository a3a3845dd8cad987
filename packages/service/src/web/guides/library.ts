import { readFile } from 'node:fs/promises';
import { type Block, idOf, parseMarkdown, plainOf } from '#web/guides/markdown.ts';

/** A page of a guide: a short guide has one, a long one has one for each chapter. */
interface Chapter {
  /** The anchor of its heading. It is empty for the beginning of the guide. */
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** A guide is for one kind of reader. Nobody sees guides for others unless they ask. */
export type Reader = 'apps' | 'owners' | 'operators';
export type Group = keyof typeof GROUPS;

/** This is a file of the documents that is shown as a guide. */
interface GuideFile {
  /** It follows `/guides/` in the address. */
  readonly name: string;
  /** The file, from the folder of the documents. */
  readonly file: string;
  readonly reader: Reader;
  /** The navigation shows it under this heading. Undefined if it stands above all headings. */
  readonly group?: Group;
}

export interface Guide extends GuideFile {
  readonly title: string;
  readonly chapters: readonly Chapter[];
}

/** Each reader begins with this guide. */
export const FIRST_GUIDES: Readonly<Record<Reader, string>> = {
  apps: 'app-developer',
  owners: 'wallet-owner',
  operators: 'operator',
};

/** The guides for operators are grouped by subject, and in the order in which an operator needs them. */
const GROUPS = {
  install: ['one-server', 'install', 'systemd', 'container', 'kubernetes', 'proxy', 'settings'],
  models: ['providers', 'catalogue', 'prices', 'upstreams'],
  money: ['console', 'wallets-and-apps', 'payments-and-mail'],
  running: ['backup', 'metrics', 'alerts', 'log', 'dashboards', 'tracing', 'troubleshooting', 'upgrade', 'secret'],
  special: ['privacy', 'single-sign-on', 'archive'],
  several: ['high-availability', 'cells'],
  providers: ['openai-compatible', 'azure', 'anthropic', 'bedrock', 'google', 'vertex', 'mistral'],
} as const;

/** The guides are in the order of the navigation. */
export const FILES: readonly GuideFile[] = [
  { name: FIRST_GUIDES.apps, file: 'guides/app-developer.md', reader: 'apps' },
  { name: 'clients', file: 'CLIENTS.md', reader: 'apps' },
  { name: 'sandbox', file: 'SANDBOX.md', reader: 'apps' },
  { name: 'parameters', file: 'PARAMETERS.md', reader: 'apps' },
  { name: FIRST_GUIDES.owners, file: 'guides/wallet-owner.md', reader: 'owners' },
  { name: 'coding-agents', file: 'guides/coding-agents.md', reader: 'owners' },
  { name: FIRST_GUIDES.operators, file: 'guides/operator.md', reader: 'operators' },
  ...(Object.keys(GROUPS) as Group[]).flatMap((group) => {
    const [prefix, folder] = group === 'providers' ? ['provider', 'providers'] : ['operator', 'operator'];
    return GROUPS[group].map((page): GuideFile => {
      return { name: `${prefix}-${page}`, file: `guides/${folder}/${page}.md`, reader: 'operators', group };
    });
  }),
];

/** The documents lie beside the packages, in a repository and in an image of it. */
const DOCUMENTS = new URL('../../../../../docs/', import.meta.url);
/** A longer guide is split into its chapters, so that a page stays light on a phone. */
const WHOLE_LENGTH_MAX = 12_000;

/** Reads all guides. One whose file is not installed is left out. */
export async function readGuides(documents = DOCUMENTS): Promise<readonly Guide[]> {
  const read = FILES.map(async (one) => {
    const text = await readFile(new URL(one.file, documents), 'utf8').catch(() => undefined);
    return text === undefined ? [] : [guideOf(one, text.length, await parseMarkdown(text))];
  });
  return (await Promise.all(read)).flat();
}

function guideOf(of: GuideFile, length: number, all: readonly Block[]): Guide {
  const [first, ...rest] = all;
  const title = first?.type === 'heading' ? plainOf(first.tokens) : of.name;
  const blocks = first?.type === 'heading' ? rest : [...(first === undefined ? [] : [first]), ...rest];
  if (length <= WHOLE_LENGTH_MAX) return { ...of, title, chapters: [{ id: '', title, blocks }] };
  const starts = blocks.flatMap((block, at) => (block.type === 'heading' && block.depth === 2 ? [at] : []));
  const chapters = starts.map((start, at) => {
    const [heading, ...body] = blocks.slice(start, starts[at + 1]);
    if (heading?.type !== 'heading') return { id: '', title, blocks: body };
    return { id: idOf(heading), title: plainOf(heading.tokens), blocks: body };
  });
  return { ...of, title, chapters: [{ id: '', title, blocks: blocks.slice(0, starts[0]) }, ...chapters] };
}

/** The address of a place in a guide. Undefined if the guide has no such anchor. */
export function addressOf({ name, chapters }: Guide, anchor: string): string | undefined {
  if (anchor === '') return `/guides/${name}`;
  const chapter = chapters.find(
    ({ id, blocks }) => id === anchor || blocks.some((block) => block.type === 'heading' && idOf(block) === anchor),
  );
  if (chapter === undefined) return undefined;
  return `${chapterAddress(name, chapter)}${chapter.id === anchor ? '' : `#${anchor}`}`;
}

export function chapterAddress(name: string, { id }: Pick<Chapter, 'id'>): string {
  return `/guides/${name}${id === '' ? '' : `?chapter=${encodeURIComponent(id)}`}`;
}

/** Where a link of a guide leads: to another place here, or to another host. Undefined for files that are no guide. */
export function linkFrom(guides: readonly Guide[], { file }: Guide, target: string): string | undefined {
  if (target.startsWith('https://')) return target;
  const url = new URL(target, `file:///docs/${file}`);
  const guide = guides.find((one) => url.pathname === `/docs/${one.file}`);
  return guide && addressOf(guide, decodeURIComponent(url.hash.slice(1)));
}
