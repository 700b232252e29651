import { createRequire } from 'node:module'

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
