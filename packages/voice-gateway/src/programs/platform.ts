/* All platform differences of this package; docs/platforms.md says what was tested. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export const platform: NodeJS.Platform = process.platform
/** As in the names of packages with native builds: `linux-x64`. */
export const nativeBuild = `${platform}-${process.arch}`

/** Resolves a program: a path as is, a name through the PATH. Undefined if it does not exist or is not executable. */
export function findProgram(name: string, environment = process.env, on = platform): string | undefined {
  const isWindows = on === 'win32'
  if (name.includes('/') || (isWindows && name.includes('\\'))) return isProgram(name) ? name : undefined
  const folders = (environment.PATH ?? '').split(delimiter).filter(Boolean)
  const endings = isWindows
    ? ['', ...(environment.PATHEXT || '.EXE;.CMD;.BAT').split(';').filter(Boolean)]
    : ['']
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
