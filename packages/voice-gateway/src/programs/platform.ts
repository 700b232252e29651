/* Where platforms differ in this package, and nowhere else; docs/platforms.md says what was tried. */

export const platform: NodeJS.Platform = process.platform

/** As in the names of the packages with native builds: `linux-x64`. */
export const nativeBuild = `${platform}-${process.arch}`

/** What may follow the name of a program in a folder: Windows adds `.exe` and more. */
export function programEndings(environment: NodeJS.ProcessEnv, on = platform): readonly string[] {
  if (on !== 'win32') return ['']
  return ['', ...(environment.PATHEXT || '.EXE;.CMD;.BAT').split(';').filter(Boolean)]
}

/** Whether a program is named with its folder. */
export function namesFolder(program: string, on = platform): boolean {
  return program.includes('/') || (on === 'win32' && program.includes('\\'))
}
