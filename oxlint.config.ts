import { CONFIG } from './tools/lint/config.ts';

// oxlint looks for this file. The rules and the tables that they are made from are in `tools/lint`.
export default CONFIG;
