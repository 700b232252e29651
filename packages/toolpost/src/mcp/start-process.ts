import type { ChildProcessWithoutNullStreams } from 'node:child_process'
// Node's own cannot start `npx` and other scripts on Windows.
import spawn from 'cross-spawn'
import { hasProcessGroups, INHERITED_VARIABLES } from '../runtime/platform.ts'
import { MARK_VARIABLE } from './group-watchdog.ts'
import type { StdioServerEntry } from './server-entry.ts'

/** Starts a server; `mark` is how its processes are known. */
export function startProcess(
  { command, args = [], env, cwd }: StdioServerEntry,
  mark: string,
): ChildProcessWithoutNullStreams {
  return spawn(command, [...args], {
    cwd,
    env: { ...inheritedEnvironment(), ...env, [MARK_VARIABLE]: mark },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that it can be ended with all that it started.
    detached: hasProcessGroups,
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams
}

function inheritedEnvironment(): Record<string, string> {
  const given = INHERITED_VARIABLES.map(name => [name, process.env[name]] as const)
  // A value that begins like this is a function of the shell.
  return Object.fromEntries(
    given.filter(
      (pair): pair is readonly [string, string] => pair[1] !== undefined && !pair[1].startsWith('()'),
    ),
  )
}
