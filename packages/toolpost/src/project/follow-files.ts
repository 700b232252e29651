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
export function followFiles(options: FollowOptions): Following {
  const follower = new Follower(options)
  void follower.start()
  return follower
}

class Follower implements Following {
  readonly #options: FollowOptions
  #watcher: import('chokidar').FSWatcher | undefined
  #timer: NodeJS.Timeout | undefined
  #reloading: Promise<void> = Promise.resolve()
  /** The last mistake that was reported: a file may change several times and keep it. */
  #mistake: string | undefined
  #isStopped = false

  constructor(options: FollowOptions) {
    this.#options = options
  }

  /** The first events are those of the files as they are, which may have changed since they were read. */
  async start(): Promise<void> {
    const { watch } = await import('chokidar')
    if (this.#isStopped) return
    const { files } = this.#options
    // Of the folders, only the way to the files is watched.
    const ignored = (path: string) => !files().some(file => file === path || file.startsWith(join(path, sep)))
    this.#watcher = watch(files().map(nearestFolder), { persistent: false, ignored })
    this.#watcher.on('all', () => this.#soon())
    // The system has reached its limit of watches: a person can still reload.
    this.#watcher.on('error', error =>
      this.#options.say(`⚠️ Changes of the configuration are not noticed: ${(error as Error).message}`),
    )
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    void this.#watcher?.close()
  }

  reload(): Promise<void> {
    this.#mistake = undefined
    return this.#reload(false)
  }

  #soon(): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#reload(true), QUIET_MS).unref()
  }

  #reload(quietly: boolean): Promise<void> {
    this.#reloading = this.#reloading.then(async () => {
      if (this.#isStopped) return
      const before = new Set(this.#options.files())
      try {
        await this.#options.reload({ quietly })
        this.#mistake = undefined
      } catch (error) {
        const { message } = error as Error
        if (message !== this.#mistake) this.#options.say(`❌ ${message}; the configuration stays as it was`)
        this.#mistake = message
      }
      const added = this.#options.files().filter(file => !before.has(file))
      if (added.length > 0) this.#watcher?.add(added.map(nearestFolder))
    })
    return this.#reloading
  }
}

/** The folder of a file, or the nearest one above it that exists: a file may come later, and its folder with it. */
function nearestFolder(file: string): string {
  const folder = dirname(file)
  return existsSync(folder) || folder === file ? folder : nearestFolder(folder)
}
