// A transition table that bounds how many tokens an ASCII text can be split into.
//
// A tokenizer merges until no two adjacent tokens form a token. So two characters that form a token
// (and are never split before merging) cannot remain two tokens. Three characters that form one
// cannot remain a one-character token beside a two-character token. The bound is the largest number
// of tokens of any split that obeys these rules. It is computed left to right: after each character
// it is enough to know the most tokens so far for a last token of one, two, or more characters.
// Only the differences between these counts matter, and few can occur: they are the states of the
// table.

/** How a character can join the characters before it. */
export const joint = {
  /** It cannot: every encoding splits here before merging. */
  split: 0,
  /** A token may span both. */
  unknown: 1,
  /** It forms a token with the previous character. */
  pair: 2,
  /** As `pair`, and the last three characters form a token. */
  triple: 3,
  /** The third or later of equal spaces or tabs; any number of them up to 20 is one token. */
  run: 4,
  /** A token may begin here; nothing is known about the characters before. */
  any: 5,
} as const;

/**
 * The most tokens so far when the last token has one, two, or more characters. Then the same counts
 * one character earlier (last token of one character, or of more) and two characters earlier.
 * `isJoined`: a token may span the last two characters.
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
const start: Cut = {
  one: 0,
  two: 0,
  more: 0,
  oneBefore: 0,
  moreBefore: 0,
  twoBefore: 0,
  isJoined: true,
};

function next(cut: Cut, kind: number): Cut {
  const most = Math.max(cut.one, cut.two, cut.more);
  if (kind === joint.any) return relative(start, -most - 1);
  // A run is one token. Its last character may start a word: that token was counted with the run's
  // second character.
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
  const [isJoined, isPair, isTriple] = [
    kind >= joint.unknown,
    kind >= joint.pair,
    kind === joint.triple,
  ];
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

/** Returns the cut with each count reduced by `less`. */
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

/** The bits of a step that hold the next state, ready to be combined with a joint. */
export const cutMask = 0xffff;

/**
 * Indexed by state and joint. Each step holds the next state and, above it (`step >> 16`), the
 * eighths of a token to add. State 0 is the start of a text.
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
      steps[(state << 3) | kind] =
        ((kind === joint.run ? 1 : most * 8) << 16) | (states.get(key)! << 3);
    }
  }
  return Int32Array.from(steps);
}
