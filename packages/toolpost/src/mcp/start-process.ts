import type { ChildProcessWithoutNullStreams } from 'node:child_process'
// Node's own `spawn` cannot start `npx` and other scripts on Windows.
import spawn from 'cross-spawn'
import { hasProcessGroups, INHERITED_VARIABLES } from '../runtime/platform.ts'
import { MARK_VARIABLE } from './group-watchdog.ts'
import type { StdioServerEntry } from './server-entry.ts'

/** Starts a server; `mark` identifies its processes. */
export function startProcess(
  { command, args = [], env, cwd }: StdioServerEntry,
  mark: string,
): ChildProcessWithoutNullStreams {
  return spawn(command, [...args], {
    cwd,
    env: { ...inheritedEnvironment(), ...env, [MARK_VARIABLE]: mark },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own group, so that it can be ended together with everything it started.
    detached: hasProcessGroups,
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams
}

function inheritedEnvironment(): Record<string, string> {
  const given = INHERITED_VARIABLES.map(name => [name, process.env[name]] as const)
  // A value that starts with `()` is a shell function.
  return Object.fromEntries(
    given.filter(
      (pair): pair is readonly [string, string] => pair[1] !== undefined && !pair[1].startsWith('()'),
    ),
  )
}
