/**
 * Invented log probabilities, one for each piece of the text. A piece is a word and not a token, so there are fewer of them
 * than the usage counts. The first alternative is the piece itself.
 */
export function logprobsOf(pieces: readonly string[], alternatives: number): object {
  const content = pieces.map((piece) => {
    const chosen = entryOf(piece, 0);
    const others = Array.from({ length: alternatives }, (_, rank) => {
      return rank === 0 ? chosen : entryOf(`${piece}~${rank}`, rank);
    });
    return { ...chosen, top_logprobs: others };
  });
  return { content, refusal: null };
}

/** One alternative. Each rank is much less likely than the one before. */
function entryOf(token: string, rank: number): object {
  return { token, logprob: -0.125 - 2 * rank, bytes: [...Buffer.from(token, 'utf8')] };
}
