/** A package that does not come with Toolpost is wanted now. The message says in one line how to get it. */
export class MissingPackageError extends Error {
  override name = 'MissingPackageError'
  readonly packages: readonly string[]

  constructor(what: string, packages: readonly string[], options?: ErrorOptions) {
    super(`${what} needs another package; run: npm i ${packages.join(' ')}`, options)
    this.packages = packages
  }
}

/** Loads packages that are installed only by those who use them. Rejects with a MissingPackageError without them. */
export async function loadOptional<T>(
  what: string,
  packages: readonly string[],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load()
  } catch (error) {
    throw isMissing(error) ? new MissingPackageError(what, packages, { cause: error }) : error
  }
}

/** Whether `import` or `require` did not find a package. */
export function isMissing(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}
