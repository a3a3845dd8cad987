import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientsDocument } from '../tests/clients/document.ts';
import { ROOT } from './toolchain.ts';

// Writes docs/CLIENTS.md anew, after a client, a scenario or an installed version has changed.
writeFileSync(join(ROOT, 'docs', 'CLIENTS.md'), clientsDocument());
