import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

let cached: string | undefined

/**
 * The folder of the `toolpost` package that this code runs from. Children run compiled files, while the parent
 * may be source, `dist/` or the bundled command line: the package folder is the one place that all three know.
 */
export function packageRoot(): string {
  cached ??= findPackage(dirname(fileURLToPath(import.meta.url)), 'toolpost')
  return cached
}

/** The URL of a compiled file of this package, by its path under `dist/`. */
export function compiledFile(path: string): URL {
  const file = join(packageRoot(), 'dist', path)
  if (!existsSync(file)) throw new Error(`Toolpost is not built: ${file} is missing. Run: npm run build`)
  return pathToFileURL(file)
}

/** The nearest folder, starting at `folder` and going up, whose package.json has this name. */
export function findPackage(folder: string, name: string): string {
  for (let current = folder; ; current = dirname(current)) {
    if (packageName(current) === name) return current
    if (dirname(current) === current) throw new Error(`The package '${name}' was not found above ${folder}`)
  }
}

function packageName(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name
  } catch {
    return undefined
  }
}
