// The bodies of one request while it runs, for a key that keeps them.
import { CutBody } from './cut-body.ts';

/** A finished request's bodies, as they wait to be stored. */
export type Exchange = {
  readonly accountId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** The account's generation when the request began. */
  readonly generation: number;
  readonly days: number;
  /** null: there was none. */
  readonly request: CutBody | null;
  readonly answer: CutBody | null;
  readonly isStreamed: boolean;
};

type Owner = Omit<Exchange, 'request' | 'answer' | 'isStreamed'>;

type Ends = {
  readonly bodyBytesMax: number;
  /** Takes memory; false: there is none left. */
  readonly grow: (bytes: number) => boolean;
  readonly give: (bytes: number) => void;
  readonly keep: (exchange: Exchange) => void;
  /** Called once when the bodies are lost for lack of memory. */
  readonly drop: () => void;
};

export class KeptExchange {
  readonly #of: Owner;
  readonly #ends: Ends;
  #request: CutBody | null = null;
  #answer: CutBody | null = null;
  #isStreamed = false;
  #isOver = false;

  constructor(of: Owner, ends: Ends) {
    this.#of = of;
    this.#ends = ends;
  }

  noteRequest(body: Uint8Array): void {
    this.#request = this.#add(this.#request, body);
  }

  noteAnswer(body: string | Uint8Array): void {
    this.#answer = this.#add(this.#answer, body);
  }

  noteFrames(frames: string | Uint8Array): void {
    this.#isStreamed = true;
    this.noteAnswer(frames);
  }

  /** Call when the answer was sent or the client is gone. A request that got no answer is not kept. */
  end({ isClientGone }: { readonly isClientGone: boolean }): void {
    if (this.#isOver) return;
    const [request, answer] = [this.#request, this.#answer];
    if (!answer && !(isClientGone && request)) return this.#forget();
    this.#isOver = true;
    this.#ends.keep({ ...this.#of, request, answer, isStreamed: this.#isStreamed });
  }

  #add(body: CutBody | null, piece: string | Uint8Array): CutBody | null {
    if (this.#isOver) return null;
    const { bodyBytesMax, grow } = this.#ends;
    const into = body ?? new CutBody(bodyBytesMax, grow);
    if (into.add(piece)) return into;
    this.#forget();
    this.#ends.drop();
    return null;
  }

  #forget(): void {
    this.#isOver = true;
    this.#ends.give((this.#request?.heldBytes ?? 0) + (this.#answer?.heldBytes ?? 0));
    [this.#request, this.#answer] = [null, null];
  }
}
