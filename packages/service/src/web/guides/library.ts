import { readFile } from 'node:fs/promises';
import { type Block, parseMarkdown } from '#web/guides/markdown.ts';

/** A page of a guide: a short guide has one, a long one has one for each chapter. */
interface Chapter {
  /** The anchor of its heading. Empty: the beginning of the guide. */
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface Guide {
  /** What follows `/guides/`. */
  readonly name: string;
  /** The file, from the folder of the documents. */
  readonly file: string;
  readonly title: string;
  readonly group: keyof typeof GROUPS;
  /** What the list calls it, if its title is the heading of its group. */
  readonly inList?: string;
  readonly chapters: readonly Chapter[];
}

export const GROUPS = {
  apps: 'For app developers',
  owners: 'For wallet owners',
  operators: 'For operators',
  providers: 'Providers',
} as const;

/** The pages are in the order in which an operator needs them. */
const OPERATOR_PAGES = [
  'install',
  'systemd',
  'container',
  'kubernetes',
  'proxy',
  'settings',
  'providers',
  'catalogue',
  'prices',
  'upstreams',
  'console',
  'wallets-and-apps',
  'payments-and-mail',
  'backup',
  'metrics',
  'alerts',
  'log',
  'dashboards',
  'tracing',
  'troubleshooting',
  'upgrade',
  'secret',
  'privacy',
  'single-sign-on',
  'high-availability',
  'archive',
  'cells',
];
const PROVIDERS = ['openai-compatible', 'azure', 'anthropic', 'bedrock', 'google', 'vertex', 'mistral'];

/** Where each guide is, in the order of the list. */
export const FILES: readonly Pick<Guide, 'name' | 'file' | 'group' | 'inList'>[] = [
  {
    name: 'app-developer',
    file: 'guides/app-developer.md',
    group: 'apps',
    inList: 'From the first call to production',
  },
  { name: 'sandbox', file: 'SANDBOX.md', group: 'apps' },
  { name: 'clients', file: 'CLIENTS.md', group: 'apps' },
  { name: 'parameters', file: 'PARAMETERS.md', group: 'apps' },
  { name: 'wallet-owner', file: 'guides/wallet-owner.md', group: 'owners', inList: 'Your wallet, apps and payments' },
  { name: 'operator', file: 'guides/operator.md', group: 'operators', inList: 'The first day of a service' },
  ...OPERATOR_PAGES.map((page) => ({
    name: `operator-${page}`,
    file: `guides/operator/${page}.md`,
    group: 'operators' as const,
  })),
  ...PROVIDERS.map((page) => ({
    name: `provider-${page}`,
    file: `guides/providers/${page}.md`,
    group: 'providers' as const,
  })),
];

/** The documents lie beside the packages, in a repository and in an image of it. */
const DOCUMENTS = new URL('../../../../../docs/', import.meta.url);
/** A longer guide is split into its chapters, so that a page stays light on a phone. */
const WHOLE_LENGTH_MAX = 12_000;

/** Reads all guides. One whose file is not installed is left out. */
export async function readGuides(documents = DOCUMENTS): Promise<readonly Guide[]> {
  const read = FILES.map(async (one) => {
    const text = await readFile(new URL(one.file, documents), 'utf8').catch(() => undefined);
    return text === undefined ? [] : [guideOf(one, text)];
  });
  return (await Promise.all(read)).flat();
}

function guideOf(of: Omit<Guide, 'title' | 'chapters'>, text: string): Guide {
  const [first, ...rest] = parseMarkdown(text);
  const title = first?.kind === 'heading' ? first.text : of.name;
  const blocks = first?.kind === 'heading' ? rest : [...(first === undefined ? [] : [first]), ...rest];
  if (text.length <= WHOLE_LENGTH_MAX) return { ...of, title, chapters: [{ id: '', title, blocks }] };
  const starts = blocks.flatMap((block, at) => (block.kind === 'heading' && block.level === 2 ? [at] : []));
  const chapters = starts.map((start, at) => {
    const [heading, ...body] = blocks.slice(start, starts[at + 1]);
    const named = heading?.kind === 'heading' ? heading : { id: '', text: title };
    return { id: named.id, title: named.text, blocks: body };
  });
  return { ...of, title, chapters: [{ id: '', title, blocks: blocks.slice(0, starts[0]) }, ...chapters] };
}

/** The address of a place in a guide. Undefined if the guide has no such anchor. */
export function addressOf({ name, chapters }: Guide, anchor: string): string | undefined {
  if (anchor === '') return `/guides/${name}`;
  const chapter = chapters.find(
    ({ id, blocks }) => id === anchor || blocks.some((block) => block.kind === 'heading' && block.id === anchor),
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
