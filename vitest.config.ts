import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tests/longest-first.ts'

const root = import.meta.dirname
const packages = readdirSync(join(root, 'packages')).map(name => join(root, 'packages', name))
const folders = [join(root, 'tests'), ...packages.flatMap(path => [join(path, 'src'), join(path, 'test')])]
const files = folders.filter(existsSync).flatMap(testsIn)
/**
 * What these tests measure, replace or clean up is their process: memory, freezes, listeners, modules, known secrets.
 * They get one that nobody has used. The others share a few, because reading all modules again takes longer than most files.
 */
const OWN_PROCESS =
  /\b(unharmed|besideAttack|memoryUsage|vi\.mock|vi\.doMock|process\.on)\(|globalThis\.\w+ = |support\/(program|server)\.ts|\[F34\]/

function testsIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter(name => name.endsWith('.test.ts')).map(name => join(folder, name))
}

const alone = files.filter(file => OWN_PROCESS.test(readFileSync(file, 'utf8')))

export default defineConfig({
  test: {
    // Half of the tests wait for processes: three workers keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // A machine that others use too may be late once; what fails twice is broken.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      { extends: true, test: { name: 'alone', include: alone, isolate: true } },
      {
        extends: true,
        test: { name: 'shared', include: files, exclude: alone, isolate: false },
      },
    ],
  },
})
