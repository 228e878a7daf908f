// Values that nobody needs to change and no file can: constants, which are part of the configuration
// so that tests can start a gateway with others. Constants that no test changes are beside the code
// that uses them.

export type Tuning = {
  /** The retries that are always allowed at once, however few requests run. */
  readonly retriesMin: number;
  /** The wait before the first retry on a route; it doubles with each retry. */
  readonly backoffMs: number;
  /** Failures in a row that eject a route. */
  readonly failuresMax: number;
  /** The longest ejection of a route, also used when a credential is refused. */
  readonly ejectionMsMax: number;
  /** How long a client may read nothing of its response before it counts as gone. */
  readonly stallMs: number;
  /** The most that arriving bodies may take together. `null`: an eighth of the memory limit. */
  readonly arrivingBytes: number | null;
  /** The most that large answers of providers may take together. `null`: likewise. */
  readonly answerBytes: number | null;
  /**
   * The longest answer, after compression, that is cached or stored in the database for a retry. A
   * longer one for a retry is stored as a file.
   */
  readonly storedAnswerBytes: number;
  /** The part of a kept body that is stored. */
  readonly keptBodyBytes: number;
  /** How often each thread looks for lines of batches. */
  readonly batchPollMs: number;
  /** The fewest lines that Bedrock takes as a batch. */
  readonly bedrockLinesMin: number;
  /** Where Stripe's API is. `null`: at Stripe. */
  readonly stripeUrl: string | null;
};

export const usualTuning: Tuning = {
  retriesMin: 3,
  backoffMs: 250,
  failuresMax: 5,
  ejectionMsMax: 300_000,
  stallMs: 60_000,
  arrivingBytes: null,
  answerBytes: null,
  storedAnswerBytes: 8 * 1024 * 1024,
  keptBodyBytes: 256 * 1024,
  batchPollMs: 1_000,
  bedrockLinesMin: 100,
  stripeUrl: null,
};
