/*
 * Where platforms differ, and nowhere else. Everything is tried on Linux; docs/platforms.md says what was only read for macOS
 * and Windows.
 */

export const platform: NodeJS.Platform = process.platform

/** Without them a process cannot be ended with all that it started by one signal: Windows has neither groups nor signals. */
export const hasProcessGroups = platform !== 'win32'

/** Whether a file has a mode that says who may read it; Windows shows 0666 whatever its rights are. */
export const hasFileModes = platform !== 'win32'

/** What programs need of the environment of this process, without its secrets. */
export const INHERITED_VARIABLES: readonly string[] =
  platform === 'win32'
    ? [
        ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATH', 'PATHEXT'],
        ...['PROCESSOR_ARCHITECTURE', 'PROGRAMDATA', 'PROGRAMFILES', 'SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP'],
        ...['USERNAME', 'USERPROFILE', 'WINDIR'],
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']

/** The command that opens a web page, if there is a screen to open it on. */
export function pageOpener(environment: NodeJS.ProcessEnv = process.env): readonly string[] | undefined {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = environment
  if (BROWSER) return [BROWSER]
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}

/** Whether the process that started this one, as `pid`, has ended. */
export function parentIsGone(pid: number): boolean {
  // Elsewhere an orphan gets a new parent; on Windows it keeps the id of the old one.
  if (platform !== 'win32') return process.ppid !== pid
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}
