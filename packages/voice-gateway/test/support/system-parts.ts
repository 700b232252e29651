import { findProgram } from '../../src/programs/platform.ts'

const required = process.env.TOOLPOST_REQUIRE_SYSTEM_PARTS === '1'

/** Whether the tests on a program of the system are run: where it is required and missing they run, and fail. */
export function hasPart(name: string): boolean {
  const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin`
  const isThere = findProgram(name, { PATH }) !== undefined
  if (!isThere && !required)
    process.stderr.write(`${name} is not installed: the tests on it are passed over\n`)
  return isThere || required
}
