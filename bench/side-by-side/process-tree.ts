// CPU time of a process and all its descendants, from Linux's /proc. Children that have ended and
// were waited for are included.
import { readdirSync, readFileSync } from 'node:fs';

type Process = { readonly pid: number; readonly parent: number; readonly cpuMicros: number };

/** Linux reports CPU time in ticks of 10 ms. */
const microsPerTick = 10_000;

export function treeCpuMicros(root: number): number {
  return treeOf(root).reduce((sum, { cpuMicros }) => sum + cpuMicros, 0);
}

export function treePids(root: number): number[] {
  return treeOf(root).map(({ pid }) => pid);
}

function treeOf(root: number): Process[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readProcess(name) : []));
  const tree = all.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/** Returns nothing for a process that has just ended. See proc(5) for the fields. */
function readProcess(pid: string): Process[] {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return [];
  }
  // The name, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return [{ pid: Number(pid), parent: Number(fields[1]), cpuMicros: ticks * microsPerTick }];
}
