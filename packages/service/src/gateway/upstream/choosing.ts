import type { Upstream } from '#catalogue/catalogue.ts';

type Upstreams = readonly [Upstream, ...Upstream[]];

/**
 * Puts the upstreams of a call in the order of asking: those with a weight first, drawn by it, then the others as the catalogue
 * lists them. Those that `isAskable` speaks against go last. `random` gives shares from 0 to below 1.
 */
export function inOrder(
  upstreams: Upstreams,
  isAskable: (upstream: Upstream) => boolean,
  random: () => number,
): Upstreams {
  if (upstreams.length === 1) return upstreams;
  const drawn = upstreams.some(({ weight }) => weight !== undefined) ? drawOrder(upstreams, random) : upstreams;
  const askable = drawn.filter(isAskable);
  if (askable.length === drawn.length) return drawn;
  const [first = drawn[0], ...others] = [...askable, ...drawn.filter((one) => !askable.includes(one))];
  return [first, ...others];
}

/** Draws without putting back: the second is who would be drawn if the first were not there. */
function drawOrder(upstreams: Upstreams, random: () => number): Upstreams {
  const left = upstreams.filter(({ weight }) => weight !== undefined);
  const drawn: Upstream[] = [];
  while (left.length > 0) {
    let point = random() * left.reduce((sum, { weight = 0 }) => sum + weight, 0);
    const at = left.findIndex(({ weight = 0 }) => (point -= weight) < 0);
    drawn.push(...left.splice(Math.max(at, 0), 1));
  }
  const [first = upstreams[0], ...others] = [...drawn, ...upstreams.filter(({ weight }) => weight === undefined)];
  return [first, ...others];
}
