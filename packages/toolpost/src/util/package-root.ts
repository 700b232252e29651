import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

let cached: string | undefined

/**
 * The folder of the `toolpost` package that this code runs from. Children run compiled files, while the parent
 * may be source, `dist/` or the bundled command line: the package folder is the one place that all three know.
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!cached) {
    const file = join(folder, 'package.json')
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'toolpost') cached = folder
    else if (folder === dirname(folder)) throw new Error("The package 'toolpost' was not found")
    else folder = dirname(folder)
  }
  return cached
}

/** The URL of a compiled file of this package, by its path under `dist/`. */
export function compiledFile(path: string): URL {
  const file = join(packageRoot(), 'dist', path)
  if (!existsSync(file)) throw new Error(`Toolpost is not built: ${file} is missing. Run: npm run build`)
  return pathToFileURL(file)
}
