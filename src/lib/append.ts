// Adds many elements to a list. `list.push(...more)` makes each an argument of a call, and overflows the stack at some hundred thousand,
// which a request can hold.

/** `append(list, [1, 2])` adds 1 and 2 at the end of `list`. */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const element of more) list.push(element);
}
