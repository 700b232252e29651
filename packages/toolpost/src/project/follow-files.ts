import { existsSync, type FSWatcher, realpathSync, statSync, unwatchFile, watch, watchFile } from 'node:fs'
import { dirname } from 'node:path'
import type { Description } from './open-project.ts'

/** Editors write in several steps: everything within this time is one change. */
const QUIET_MS = 150
/** For folders that cannot be watched. */
const POLL_MS = 2_000

export interface FollowOptions {
  /** The files to follow now, which need not exist, and when they were read. */
  described(): Pick<Description, 'files' | 'readAt'>
  /** Called after a file changed, one call at a time. May reject. With `quietly`, it says nothing if nothing changed. */
  reload(options: { quietly: boolean }): Promise<unknown>
  say(text: string): void
}

/**
 * Watches the folders of the files, because editors replace files instead of writing to them, and checks the files when
 * something happens there.
 */
export function followFiles(options: FollowOptions): Following {
  const follower = new Follower(options)
  follower.start()
  return follower
}

export interface Following {
  /** Reloads now; a mistake is reported. */
  reload(): Promise<void>
  stop(): void
}

class Follower implements Following {
  readonly #options: FollowOptions
  readonly #watched = new Map<string, () => void>()
  #states = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #isReloading = false
  #isStopped = false

  constructor(options: FollowOptions) {
    this.#options = options
    this.#states = this.#statesNow()
  }

  /** Also notices what changed since the files were read. */
  start(): void {
    const { readAt = Date.now() } = this.#options.described()
    this.#look()
    for (const file of this.#files()) {
      if (changeOf(file) <= readAt) continue
      this.#states.delete(file)
      this.#soon()
    }
  }

  /** Watches only the folders that matter now. */
  #look(): void {
    const found = this.#files().flatMap(file => foldersOf(file))
    const folders = new Map(found.map(folder => [idOf(folder), folder]))
    for (const [id, stop] of this.#watched) {
      if (folders.has(id)) continue
      stop()
      this.#watched.delete(id)
    }
    for (const [id, folder] of folders)
      if (!this.#watched.has(id))
        this.#watched.set(
          id,
          watchFolder(folder, () => this.#soon()),
        )
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const stop of this.#watched.values()) stop()
    this.#watched.clear()
  }

  #soon(): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#check(), QUIET_MS).unref()
  }

  async #check(): Promise<void> {
    if (this.#isReloading) return this.#soon()
    // A folder may have been created, deleted, or replaced behind a symlink.
    this.#look()
    const states = this.#statesNow()
    const hasChanged = [...states].some(([file, state]) => this.#states.get(file) !== state)
    this.#states = states
    if (!hasChanged) return
    this.#isReloading = true
    await this.#reload(true)
    this.#isReloading = false
    if (this.#isStopped) return
    this.#look()
    // Files that are new here are as they were read; the others may have changed meanwhile.
    this.#states = new Map([...this.#statesNow()].map(([file, state]) => [file, states.get(file) ?? state]))
    this.#soon()
  }

  reload(): Promise<void> {
    return this.#reload(false)
  }

  async #reload(quietly: boolean): Promise<void> {
    try {
      await this.#options.reload({ quietly })
    } catch (error) {
      this.#options.say(`❌ ${(error as Error).message}; the configuration stays as it was`)
    }
  }

  #files(): readonly string[] {
    return this.#options.described().files ?? []
  }

  #statesNow(): Map<string, string> {
    return new Map(this.#files().map(file => [file, stateOf(file)]))
  }
}

function changeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0
}

/** Distinguishes one version of a file from another. */
function stateOf(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch {
    return 'none'
  }
}

/** A folder that was deleted and recreated is a different one. */
function idOf(folder: string): string {
  try {
    return `${statSync(folder).ino} ${folder}`
  } catch {
    return folder
  }
}

/** Its folder, or the nearest one that exists, and that of the file behind a symlink. */
function foldersOf(file: string): string[] {
  const folders = [dirname(file)]
  try {
    folders.push(dirname(realpathSync(file)))
  } catch {
    // It does not exist yet.
  }
  return folders.map(nearestFolder)
}

function nearestFolder(folder: string): string {
  const parent = dirname(folder)
  return existsSync(folder) || parent === folder ? folder : nearestFolder(parent)
}

function watchFolder(folder: string, onChange: () => void): () => void {
  try {
    const watcher: FSWatcher = watch(folder, { persistent: false }, onChange)
    // The folder is gone, or the system has reached its limit of watches.
    watcher.on('error', onChange)
    return () => watcher.close()
  } catch {
    watchFile(folder, { persistent: false, interval: POLL_MS }, onChange)
    return () => unwatchFile(folder, onChange)
  }
}
