// Appends many elements to a list. `list.push(...more)` passes each element as an argument and
// overflows the stack at some hundred thousand elements, which a request can contain.

/** `append(list, [1, 2])` adds 1 and 2 to the end of `list`. */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const element of more) list.push(element);
}
