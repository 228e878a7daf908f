// The most tokens that a text of ASCII can be cut into, as a table of steps from one character to the next.
//
// An encoding merges tokens until no two neighbours are a token together. So two characters that are a token (and never split before
// the merging) are not left as two tokens. Three that are one are not left as a token of one character beside one of two. Of all cuts
// that keep these rules, the one with the most tokens is a bound. It is found from left to right: after each character it is enough
// to know the most tokens so far, when the last one has one, two, or more characters. Only the differences between these counts matter,
// and few can occur. They are the states of the table.

/** How a character may be joined to those before it. */
export const joint = {
  /** Never: every encoding splits here before it merges. */
  split: 0,
  /** A token may reach across. */
  unknown: 1,
  /** It is a token with the one before. */
  pair: 2,
  /** As `pair`, and the three last characters are a token. */
  triple: 3,
  /** The third or later of equal spaces or tabs, of which any number up to 20 is a token. */
  run: 4,
  /** A token may begin here, and nothing is known of those before. */
  any: 5,
} as const;

/**
 * The most tokens so far, when the last one has one, two, or more characters. Then the same one character before, where the last token
 * has one character or more, and two characters before. `isJoined`: a token may reach across the last two characters.
 */
type Cut = {
  readonly one: number;
  readonly two: number;
  readonly more: number;
  readonly oneBefore: number;
  readonly moreBefore: number;
  readonly twoBefore: number;
  readonly isJoined: boolean;
};

const never = -1e6;
const start: Cut = { one: 0, two: 0, more: 0, oneBefore: 0, moreBefore: 0, twoBefore: 0, isJoined: true };

function next(cut: Cut, kind: number): Cut {
  const most = Math.max(cut.one, cut.two, cut.more);
  if (kind === joint.any) return relative(start, -most - 1);
  // A run is one token. Its last character may be the first one of a word: that token was counted with the run's second character.
  if (kind === joint.run) {
    return {
      one: most,
      two: never,
      more: never,
      oneBefore: most - 1,
      moreBefore: most - 1,
      twoBefore: most - 1,
      isJoined: false,
    };
  }
  const [isJoined, isPair, isTriple] = [kind >= joint.unknown, kind >= joint.pair, kind === joint.triple];
  return {
    one: 1 + Math.max(isPair ? never : cut.one, isTriple ? never : cut.two, cut.more),
    two: isJoined ? 1 + Math.max(isTriple ? never : cut.oneBefore, cut.moreBefore) : never,
    more: isJoined ? Math.max(cut.more, cut.isJoined ? 1 + cut.twoBefore : never) : never,
    oneBefore: cut.one,
    moreBefore: Math.max(cut.two, cut.more),
    twoBefore: Math.max(cut.oneBefore, cut.moreBefore),
    isJoined,
  };
}

/** Returns the cut with each count reduced. */
function relative({ isJoined, ...counts }: Cut, less: number): Cut {
  const lessened = (count: number) => (count < never / 2 ? never : count - less);
  return {
    one: lessened(counts.one),
    two: lessened(counts.two),
    more: lessened(counts.more),
    oneBefore: lessened(counts.oneBefore),
    moreBefore: lessened(counts.moreBefore),
    twoBefore: lessened(counts.twoBefore),
    isJoined,
  };
}

/** The bits of a step that are the next state, ready to have a joint added. */
export const cutMask = 0xffff;

/**
 * By state and joint: the next state, and above it (`step >> 16`) the eighths of a token to add.
 * The first state, 0, is right after any text.
 */
export const cutSteps = makeSteps();

function makeSteps(): Int32Array {
  const states = new Map([[JSON.stringify(start), 0]]);
  const queue = [start];
  const steps: number[] = [];
  for (let state = 0; state < queue.length; state++) {
    for (const kind of Object.values(joint)) {
      const cut = next(queue[state]!, kind);
      const most = Math.max(cut.one, cut.two, cut.more);
      const found = relative(cut, most);
      const key = JSON.stringify(found);
      if (!states.has(key)) states.set(key, queue.push(found) - 1);
      steps[(state << 3) | kind] = ((kind === joint.run ? 1 : most * 8) << 16) | (states.get(key)! << 3);
    }
  }
  return Int32Array.from(steps);
}
