// The log as the code sees it: pino's shape, so that nothing but the program's entry depends on pino.

export type Logger = {
  readonly debug: (fields: object, message: string) => void;
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
};
