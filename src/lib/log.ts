// The log as the code sees it: pino's shape, so that nothing but the program's entry depends on pino.

/** `fields` as text: what `jsonMembers` writes of them. */
type WriteLine = (fields: object | string, message: string) => void;

export type Logger = {
  readonly debug: WriteLine;
  readonly info: WriteLine;
  readonly warn: WriteLine;
  readonly error: WriteLine;
};

/** The members of a JSON object, each with the comma before it. */
export function jsonMembers(fields: object): string {
  const members = JSON.stringify(fields).slice(1, -1);
  return members === '' ? '' : `,${members}`;
}
