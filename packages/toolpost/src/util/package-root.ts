import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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

let version: string | undefined

export function toolpostVersion(): string {
  version ??= String(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version)
  return version
}

/** An optional package is needed but not installed. The message says in one line how to install it. */
export class MissingPackageError extends Error {
  override name = 'MissingPackageError'

  constructor(what: string, packages: readonly string[], options?: ErrorOptions) {
    super(`${what} needs another package; run: npm i ${packages.join(' ')}`, options)
  }
}

/** Loads optional packages. Rejects with a MissingPackageError if they are not installed. */
export async function loadOptional<T>(
  what: string,
  packages: readonly string[],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load()
  } catch (error) {
    throw isMissingPackage(error) ? new MissingPackageError(what, packages, { cause: error }) : error
  }
}

/** The file that `require` would load; `undefined` if its package is not installed. */
export function installedFile(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name)
  } catch {
    return undefined
  }
}

/** Whether the error means that `import` or `require` did not find a package. */
export function isMissingPackage(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}
