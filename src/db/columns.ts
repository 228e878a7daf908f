// Values as columns hold them: lists as JSON, booleans as 0 or 1. null and undefined stay as they are.

export function readList(json: string | null): string[] | null {
  return json === null ? null : (JSON.parse(json) as string[]);
}

export function writeList<Given extends readonly string[] | null | undefined>(list: Given) {
  return (list && JSON.stringify(list)) as string | Exclude<Given, readonly string[]>;
}

export function flagOf<Given extends boolean | undefined>(given: Given) {
  return (given === undefined ? given : Number(given)) as 0 | 1 | Exclude<Given, boolean>;
}
