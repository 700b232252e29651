import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Creates a folder for its owner only. A `.toolpost` folder does not end up in a repository. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const ignored = join(folder, '.gitignore')
  if (basename(folder) === '.toolpost' && !existsSync(ignored)) writeFileSync(ignored, '*\n')
}

/** Writes a file that only its owner may read, atomically. Throws if that fails. */
export function writePrivate(file: string, text: string): void {
  makePrivateFolder(dirname(file))
  // A new file has its own mode, and is no link.
  const draft = `${file}.${process.pid}.tmp`
  rmSync(draft, { force: true })
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
  renameSync(draft, file)
}
