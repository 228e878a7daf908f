/** Remembers the last event of a stream. Call `isRepeated` with every event. */
export class LastEvent {
  #data = '';

  /**
   * Returns true when the event before it was the same, byte for byte. For the start of a part, this shows a
   * host that sends each event twice, so that the client would get each text twice. Equal deltas are ordinary.
   */
  isRepeated(data: string): boolean {
    const isSame = data === this.#data;
    this.#data = data;
    return isSame;
  }
}
