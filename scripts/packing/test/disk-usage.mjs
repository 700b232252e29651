// The disk usage of a folder. Imports only Node's own modules.
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** In megabytes, as `du -sm` counts: by blocks, symlinks not followed, hard links once. */
export function megabytesOf(folder) {
  const seen = new Set()
  const bytesIn = path =>
    readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
      const inner = join(path, entry.name)
      const { ino, nlink, size, blocks = Math.ceil(size / 512) } = lstatSync(inner)
      if (entry.isDirectory()) return sum + blocks * 512 + bytesIn(inner)
      if (nlink > 1 && seen.has(ino)) return sum
      seen.add(ino)
      return sum + blocks * 512
    }, 0)
  return bytesIn(folder) / 2 ** 20
}
