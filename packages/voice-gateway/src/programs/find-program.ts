import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where a program is: a path as it is given, a name along the PATH. Undefined if it does not exist or may not be run. */
export function findProgram(name: string, environment = process.env): string | undefined {
  if (name.includes('/')) return isProgram(name) ? name : undefined
  const folders = (environment.PATH ?? '').split(delimiter).filter(Boolean)
  return folders.map(folder => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
