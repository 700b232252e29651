import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

/** Editors write in several steps: everything within this time is one change. */
const QUIET_MS = 150

export interface FollowOptions {
  /** The files to follow now, which need not exist. */
  files(): readonly string[]
  /** Called after a file changed, one call at a time. May reject. With `quietly`, it says nothing if nothing changed. */
  reload(options: { quietly: boolean }): Promise<unknown>
  say(text: string): void
}

export interface Following {
  /** Reloads now; a mistake is reported. */
  reload(): Promise<void>
  stop(): void
}

/** Reloads when one of the files is written, replaced, created or deleted. */
export function followFiles({ files, reload, say }: FollowOptions): Following {
  let watcher: import('chokidar').FSWatcher | undefined
  let timer: NodeJS.Timeout | undefined
  let reloading: Promise<void> = Promise.resolve()
  /** The last mistake that was reported: a file may change several times and keep it. */
  let mistake: string | undefined
  let isStopped = false

  const reloadOnce = async (quietly: boolean) => {
    if (isStopped) return
    const before = new Set(files())
    try {
      await reload({ quietly })
      mistake = undefined
    } catch (error) {
      const { message } = error as Error
      if (message !== mistake) say(`❌ ${message}; the configuration stays as it was`)
      mistake = message
    }
    const added = files().filter(file => !before.has(file))
    if (added.length > 0) watcher?.add(added.map(nearestFolder))
  }
  const start = (quietly: boolean) => {
    reloading = reloading.then(() => reloadOnce(quietly))
    return reloading
  }

  void import('chokidar').then(({ watch }) => {
    if (isStopped) return
    // Of the folders, only the way to the files is watched.
    const ignored = (path: string) => !files().some(file => file === path || file.startsWith(join(path, sep)))
    watcher = watch(files().map(nearestFolder), { persistent: false, ignored })
    // The first events are those of the files as they are, which may have changed since they were read.
    watcher.on('all', () => {
      clearTimeout(timer)
      if (!isStopped) timer = setTimeout(() => void start(true), QUIET_MS).unref()
    })
    // The system has reached its limit of watches: a person can still reload.
    watcher.on('error', error =>
      say(`⚠️ Changes of the configuration are not noticed: ${(error as Error).message}`),
    )
  })
  return {
    reload() {
      mistake = undefined
      return start(false)
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
      void watcher?.close()
    },
  }
}

/** The folder of a file, or the nearest one above it that exists: a file may come later, and its folder with it. */
function nearestFolder(file: string): string {
  const folder = dirname(file)
  return existsSync(folder) || folder === file ? folder : nearestFolder(folder)
}
