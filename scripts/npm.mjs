// Runs npm on every platform: on Windows its command is a script, which would need a shell, and a shell splits paths at
// blanks. Imports only Node's own modules.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** `[command, args]` to run npm with these arguments. */
export function npmCommand(args) {
  const cli = npmScript()
  return cli ? [process.execPath, [cli, ...args]] : ['npm', args]
}

/** Returns what npm prints; throws if it fails. */
export function runNpm(args, options = {}) {
  return execFileSync(...npmCommand(args), { encoding: 'utf8', ...options })
}

/** The npm that runs us, else the one that came with this Node. */
function npmScript() {
  const { npm_execpath: running = '' } = process.env
  const folder = dirname(process.execPath)
  const cli = join('node_modules', 'npm', 'bin', 'npm-cli.js')
  const candidates = [
    basename(running) === 'npm-cli.js' ? running : '',
    join(folder, cli),
    join(folder, '..', 'lib', cli),
  ]
  return candidates.find(path => path !== '' && existsSync(path))
}
