import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const { resolve } = createRequire(import.meta.url)
let root: string | undefined

/** The folder of this package: the one place that the source, `dist/` and the bundled command line all know. */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); !root; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json'))) root = folder
  return root
}

/** The content of a JSON file of this package. */
export function packageJson(path: string) {
  return JSON.parse(readFileSync(join(packageRoot(), path), 'utf8'))
}

export function toolpostVersion(): string {
  return packageJson('package.json').version
}

/** The URL of a compiled file of this package, by its path under `dist/`. */
export function compiledFile(path: string): URL {
  const file = join(packageRoot(), 'dist', path)
  if (!existsSync(file)) throw new Error(`Toolpost is not built: ${file} is missing. Run: npm run build`)
  return pathToFileURL(file)
}

/** An optional package is needed but not installed. The message says in one line how to install it. */
export class MissingPackageError extends Error {
  override name = 'MissingPackageError'

  constructor(what: string, packages: readonly string[], options?: ErrorOptions) {
    super(`${what} needs another package; run: npm i ${packages.join(' ')}`, options)
  }
}

/** Loads optional packages. Rejects with a MissingPackageError if they are not installed. */
export function loadOptional<T>(what: string, names: readonly string[], load: () => Promise<T>): Promise<T> {
  return load().catch(cause => {
    throw isMissingPackage(cause) ? new MissingPackageError(what, names, { cause }) : cause
  })
}

/** Whether the error means that `import` or `require` did not find a package. */
export function isMissingPackage(error: unknown): boolean {
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException | null)?.code))
}

/** The file that `require` would load; `undefined` if its package is not installed. */
export function installedFile(name: string): string | undefined {
  try {
    return resolve(name)
  } catch {
    return undefined
  }
}
