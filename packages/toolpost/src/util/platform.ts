/** What differs between platforms; docs/platforms.md lists what is untested on macOS and Windows. */
export const platform: NodeJS.Platform = process.platform

/** Whether one signal can end a process and everything it started: Windows has neither groups nor signals. */
export const hasProcessGroups = platform !== 'win32'

/** Whether a file's mode says who may read it; Windows reports 0666 whatever its permissions are. */
export const hasFileModes = platform !== 'win32'

/** The environment variables that programs need on any platform, none of them secret. */
export const INHERITED_VARIABLES: readonly string[] = [
  ...'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR TZ USER HTTP_PROXY HTTPS_PROXY NO_PROXY'.split(' '),
  ...'http_proxy https_proxy no_proxy APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT'.split(' '),
  ...'PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP'.split(' '),
  ...'USERNAME USERPROFILE WINDIR'.split(' '),
]

/** Environment variables: `process.env`, or a stub in tests. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The command that opens a web page, if there is a display. */
export function pageOpener(): readonly string[] | undefined {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = process.env
  if (BROWSER) return [BROWSER]
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}
