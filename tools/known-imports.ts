// Loaded before the first module of a test process, so that it loads the service in less time.
import { keepKnownImports } from '../packages/service/src/cli/ground/known-imports.ts';

keepKnownImports();
