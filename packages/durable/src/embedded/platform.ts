/* Where platforms differ in this package, and nowhere else; docs/platforms.md says what was tried. */

export const isWindows = process.platform === 'win32'

/** As in the names of the packages with PostgreSQL's programs: `linux-x64`. */
export const build = `${isWindows ? 'windows' : process.platform}-${process.arch}`
