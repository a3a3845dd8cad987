import { type Figure, figure, type Measure, type Row } from '../measure.ts';
import { saturate } from '../support/saturate.ts';
import { DIRECT } from '../support/target.ts';
import { peerTargetsOf, targetsOf } from '../support/targets.ts';
import { allCores } from '../support/tools.ts';

/** One caller with one call at a time: what a gateway adds when nothing else happens. */
export const alone: Measure = {
  name: 'alone',
  title: 'Plain calls, one at a time',
  run: async (bench) => {
    if (bench.tools.wrk === undefined) return [];
    const ground = await bench.ground();
    const targets = [...targetsOf(ground, false), ...(await peerTargetsOf(ground, false))];
    // Nothing is at work but one call, so a database may run where there is room, as it would elsewhere.
    for (const { database } of ground.pursers) database.pin(allCores());
    const rows = await saturate(bench, ground, targets, 1);
    for (const { database } of ground.pursers) database.pin(ground.cores.database);
    const direct = rows.find(({ target }) => target === DIRECT)?.figures['p50'];
    return rows.map((row) => withAdded(row, direct));
  },
};

/** What it adds to the time of a direct call, within each round. */
function withAdded(row: Row, direct: Figure | undefined): Row {
  const { 'calls/s': rate, p50, ...others } = row.figures;
  if (rate === undefined || p50 === undefined) return row;
  const added = p50.samples.map((found, round) => found - (direct?.samples[round] ?? Number.NaN));
  return { ...row, figures: { p50, 'added p50': figure('ms', added), ...others } };
}
