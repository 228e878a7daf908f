// The commands of the command line, read from the program itself.
import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';

type ListedCommand = {
  /** Without the program's name: `accounts create`. */
  readonly name: string;
  /** Long names, such as `--json`. */
  readonly options: readonly string[];
};

export const listedCommands: readonly ListedCommand[] = leavesOf(buildProgram(), []);

function leavesOf(command: Command, path: readonly string[]): ListedCommand[] {
  if (command.commands.length > 0)
    return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
  return [{ name: path.join(' '), options: command.options.map(({ long }) => long!) }];
}
