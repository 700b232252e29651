import { existsSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

interface Started {
  command: string
  args?: readonly string[] | undefined
  /** Absolute. */
  cwd?: string | undefined
}

/**
 * A server's command and arguments that are files, as absolute paths: they are meant from the folder of the configuration,
 * wherever Toolpost is started. A file that stands in the server's own `cwd` is left to the server, which finds it there.
 */
export function withFilesFrom<Entry extends Started>(entry: Entry, folder: string): Entry {
  const { command, args, cwd } = entry
  const place = (word: string) => placed(word, folder, cwd)
  return {
    ...entry,
    command: /[\\/]/.test(command) ? place(command) : command,
    ...(args && { args: args.map(arg => withPlacedValue(arg, place)) }),
  }
}

/** `--config=./file` names a file too. */
function withPlacedValue(arg: string, place: (word: string) => string): string {
  const [, option = '', value = arg] = /^(--?[\w-]+=)(\.{1,2}[\\/].*)$/s.exec(arg) ?? []
  return `${option}${place(value)}`
}

function placed(word: string, folder: string, cwd: string | undefined): string {
  if (!looksLikePath(word) || isAbsolute(word)) return word
  if (cwd !== undefined && existsSync(join(cwd, word))) return word
  return isThere(join(folder, word), word) ? resolve(folder, word) : word
}

/** Words without a dot or a slash are words, whatever files there are. */
function looksLikePath(word: string): boolean {
  return word.length < 1_000 && !word.startsWith('-') && !word.includes('://') && /[./\\]/.test(word)
}

/** A folder is meant only if it is written as one. */
function isThere(path: string, word: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true || (found?.isDirectory() === true && /^\.{1,2}(?:[\\/]|$)/.test(word))
}
