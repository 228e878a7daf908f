/** Why the model stopped. */
export type Stop = {
  readonly reason:
    | 'end'
    | 'stop-sequence'
    | 'tool-calls'
    | 'length'
    | 'content-filter'
    | 'refusal'
    | 'pause';
  /** The sequence that was met, where the upstream names it. */
  readonly sequence: string | null;
  /** Why earlier reasoning was withheld from it. */
  readonly withheld?: string;
  /**
   * The upstream's word for why the model broke off, such as `MALFORMED_FUNCTION_CALL`. Left out:
   * it did not.
   */
  readonly brokeOff?: string;
};
