// Concurrency limits. One process counts in memory; gateways on one database share the slots
// (shared-slots.ts).

export type SlotLimit = { readonly id: string; readonly max: number };

export type Slots = {
  /** Takes a slot if one is free. The caller must give it back. */
  readonly take: (limit: SlotLimit) => boolean | Promise<boolean>;
  readonly give: (limit: SlotLimit) => void;
  readonly close: () => Promise<void>;
};

export class MemorySlots implements Slots {
  readonly #inUse = new Map<string, number>();

  take({ id, max }: SlotLimit): boolean {
    const inUse = this.#inUse.get(id) ?? 0;
    if (inUse >= max) return false;
    this.#inUse.set(id, inUse + 1);
    return true;
  }

  give({ id }: SlotLimit): void {
    const inUse = this.#inUse.get(id) ?? 0;
    if (inUse <= 1) this.#inUse.delete(id);
    else this.#inUse.set(id, inUse - 1);
  }

  async close(): Promise<void> {}
}
