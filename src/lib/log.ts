// The logger interface: pino's shape, so that only the program's entry depends on pino.

type WriteLine = (fields: object, message: string) => void;

export type Logger = {
  readonly debug: WriteLine;
  readonly info: WriteLine;
  readonly warn: WriteLine;
  readonly error: WriteLine;
};

/** For what runs outside of a gateway. */
export const noLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
