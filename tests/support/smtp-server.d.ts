// The parts of the package that tests use; it has no types.
declare module 'smtp-server' {
  import type { Server } from 'node:net';
  import type { Readable } from 'node:stream';

  type Address = { readonly address: string };
  type Session = {
    readonly envelope: { readonly mailFrom: Address | false; readonly rcptTo: readonly Address[] };
  };
  type Options = {
    readonly disabledCommands?: readonly string[];
    readonly allowInsecureAuth?: boolean;
    readonly onAuth?: (
      auth: { readonly username: string; readonly password: string },
      session: Session,
      done: (error: Error | null, response?: { readonly user: string }) => void,
    ) => void;
    readonly onRcptTo?: (
      address: Address,
      session: Session,
      done: (error?: Error | null) => void,
    ) => void;
    readonly onData?: (
      stream: Readable,
      session: Session,
      done: (error?: Error | null) => void,
    ) => void;
  };

  export class SMTPServer {
    readonly server: Server;
    constructor(options: Options);
    listen(port: number, host: string): void;
    close(done: () => void): void;
  }
}
