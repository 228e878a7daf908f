/** The data of a stream's last event. Each stream has one, which sees every event. */
export class LastEvent {
  #data = '';

  /**
   * True: the event before it was the same, byte for byte. Where a part of the answer starts so, the host
   * sends each event twice, and the client would get each text twice. Equal deltas are ordinary.
   */
  isRepeated(data: string): boolean {
    const isSame = data === this.#data;
    this.#data = data;
    return isSame;
  }
}
