import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { platform } from '../util/platform.ts'
import type { StdioServerEntry } from './server-entry.ts'
import { ServerFailure } from './server-failure.ts'

export interface Sandbox {
  /** Folders it may write to; everything else is read-only. */
  write?: readonly string[] | undefined
  /** Folders it cannot see; a project adds its own `.toolpost`. */
  hide?: readonly string[] | undefined
  /** Whether it may use the network; `true` if left out. */
  network?: boolean | undefined
}

/** Where bubblewrap is, or why it cannot be used. */
export function findSandbox(path = process.env.PATH ?? ''): { program: string } | { problem: string } {
  if (platform !== 'linux') return { problem: "'sandbox' is only available on Linux" }
  const files = path.split(delimiter).map(folder => join(folder, 'bwrap'))
  const program = files.find(file => existsSync(file))
  return program ? { program } : { problem: "'sandbox' needs bubblewrap (bwrap): install 'bubblewrap'" }
}

/**
 * The same program under bubblewrap: a read-only file system, a private /tmp, its own processes, and nothing of the folders
 * to hide. Throws a ServerFailure if it cannot be confined as it should be.
 */
export function sandboxed(
  { command, args = [], cwd = process.cwd() }: StdioServerEntry,
  { write = [], hide = [], network = true }: Sandbox,
): { command: string; args: readonly string[] } {
  const found = findSandbox()
  if ('problem' in found) throw new ServerFailure(found.problem, { kind: 'permanent' })
  const existing = (folder: string) => {
    const path = resolve(cwd, folder)
    if (!existsSync(path))
      throw new ServerFailure(`the folder '${path}' of 'sandbox' does not exist`, { kind: 'permanent' })
    return realpathSync(path)
  }
  const hidden = hide.map(folder => resolve(cwd, folder)).filter(folder => existsSync(folder))
  const options = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    // A private /tmp would hide a project that is there.
    ...(cwd.startsWith('/tmp/') ? ['--ro-bind', cwd, cwd] : []),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...(network ? [] : ['--unshare-net']),
    ...write.map(existing).flatMap(folder => ['--bind', folder, folder]),
    // After the folders it may write to, one of which may contain them.
    ...hidden.flatMap(folder => ['--tmpfs', realpathSync(folder)]),
    ...['--chdir', cwd, '--'],
  ]
  return { command: found.program, args: [...options, command, ...args] }
}
