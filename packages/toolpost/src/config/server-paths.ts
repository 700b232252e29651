import { existsSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

interface Started {
  command: string
  args?: readonly string[] | undefined
  /** Absolute. */
  cwd?: string | undefined
}

/**
 * Makes a server's command and arguments that name files absolute: they are relative to the folder of the configuration,
 * wherever Toolpost is started. A file in the server's own `cwd` is left alone: the server finds it there.
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

/** Handles `--config=./file` as well. */
function withPlacedValue(arg: string, place: (word: string) => string): string {
  const [, option = '', value = arg] = /^(--?[\w-]+=)(\.{1,2}[\\/].*)$/s.exec(arg) ?? []
  return `${option}${place(value)}`
}

function placed(word: string, folder: string, cwd: string | undefined): string {
  if (!looksLikePath(word) || isAbsolute(word)) return word
  if (cwd !== undefined && existsSync(join(cwd, word))) return word
  return isThere(join(folder, word), word) ? resolve(folder, word) : word
}

/** A word without a dot or a slash is never a path, even if such a file exists. */
function looksLikePath(word: string): boolean {
  return word.length < 1_000 && !word.startsWith('-') && !word.includes('://') && /[./\\]/.test(word)
}

/** A folder counts only if it is written as one. */
function isThere(path: string, word: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true || (found?.isDirectory() === true && /^\.{1,2}(?:[\\/]|$)/.test(word))
}
