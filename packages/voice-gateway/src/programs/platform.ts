/* All platform differences of this package; docs/platforms.md says what was tested. */

export const platform: NodeJS.Platform = process.platform

/** As in the names of packages with native builds: `linux-x64`. */
export const nativeBuild = `${platform}-${process.arch}`

/** The suffixes of executables: Windows adds `.exe` and more. */
export function programEndings(environment: NodeJS.ProcessEnv, on = platform): readonly string[] {
  if (on !== 'win32') return ['']
  return ['', ...(environment.PATHEXT || '.EXE;.CMD;.BAT').split(';').filter(Boolean)]
}

/** Whether a program is given as a path. */
export function namesFolder(program: string, on = platform): boolean {
  return program.includes('/') || (on === 'win32' && program.includes('\\'))
}
