// What credentials need of a machine, made up: its variables, one file, and the answers of services.
import {
  CredentialError,
  type CredentialTools,
  type TokenReply,
} from '../../src/providers/credential.ts';
import { TestClock } from './test-clock.ts';

type Answers = Readonly<Record<string, TokenReply | (() => TokenReply)>>;

/** `answers`: by method and address. `asked`: each request in one line. `/token` is a file. */
export function toolsWith(
  env: CredentialTools['env'],
  answers: Answers = {},
  clock: CredentialTools['clock'] = new TestClock(),
  files: Readonly<Record<string, string>> = { '/token': 'file-token\n' },
) {
  const asked: string[] = [];
  const tools: CredentialTools = {
    clock,
    env,
    readFile: (path) =>
      files[path] === undefined
        ? Promise.reject(new Error('ENOENT'))
        : Promise.resolve(files[path]),
    send({ method, url, headers, body }) {
      asked.push([method, url, JSON.stringify(headers), body ?? ''].join(' '));
      const reply = answers[`${method} ${url}`];
      return reply
        ? Promise.resolve(typeof reply === 'function' ? reply() : reply)
        : Promise.reject(new CredentialError(`${url} gave no token`, { isRefused: false }));
    },
  };
  return { tools, asked };
}
