/* The only place in this package where platforms differ; docs/platforms.md says what was tested. */

export const isWindows = process.platform === 'win32'

/** As in the names of the packages that contain PostgreSQL: `linux-x64`. */
export const build = `${isWindows ? 'windows' : process.platform}-${process.arch}`
