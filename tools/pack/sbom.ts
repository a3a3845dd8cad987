import type { Shipped } from './lock.ts';
import { runNpm } from './npm.ts';

interface Component {
  readonly [field: string]: unknown;
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

/**
 * The bill of materials (CycloneDX) of a staged package, by npm from its shrinkwrap, with the Node and PostgreSQL that the
 * archive adds. Without npm's time and serial number, so that the same package has the same bill.
 */
export function billOfMaterials(folder: string, platform: readonly Shipped[]): unknown {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const { serialNumber: _serial, ...bom } = JSON.parse(runNpm(args, folder)) as Bom & { readonly serialNumber: string };
  const { timestamp: _time, ...metadata } = bom.metadata as Bom['metadata'] & { readonly timestamp: string };
  const listed = new Set(bom.components.map((component) => component['bom-ref']));
  const added = platform.map(componentOf).filter((component) => !listed.has(component['bom-ref']));
  return {
    ...bom,
    metadata: { ...metadata, component: { ...metadata.component, name: 'purser' } },
    components: [...bom.components, ...added],
  };
}

function componentOf({ name, entry }: Shipped): Component {
  const [algorithm, digest = ''] = (entry.integrity ?? '').split('-');
  return {
    'bom-ref': `${name}@${entry.version}`,
    type: 'application',
    name,
    version: entry.version,
    scope: 'optional',
    purl: `pkg:npm/${name.replace('@', '%40')}@${entry.version}`,
    hashes: algorithm === 'sha512' ? [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] : [],
    licenses: [{ license: { id: entry.license } }],
  };
}
