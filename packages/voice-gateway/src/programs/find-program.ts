import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { namesFolder, platform, programEndings } from './platform.ts'

/** Resolves a program: a path as is, a name through the PATH. Undefined if it does not exist or is not executable. */
export function findProgram(name: string, environment = process.env, on = platform): string | undefined {
  if (namesFolder(name, on)) return isProgram(name) ? name : undefined
  const folders = (environment.PATH ?? '').split(delimiter).filter(Boolean)
  const endings = programEndings(environment, on)
  return folders.flatMap(folder => endings.map(ending => join(folder, name + ending))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
