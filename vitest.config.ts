import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tests/longest-first.ts'

const root = import.meta.dirname
const packages = readdirSync(join(root, 'packages')).map(name => join(root, 'packages', name))
const folders = [
  join(root, 'tests'),
  join(root, 'examples/replayed-bug'),
  ...packages.flatMap(path => [join(path, 'src'), join(path, 'test')]),
]
const files = folders.filter(existsSync).flatMap(testsIn)
/**
 * Tests that measure, replace or clean up something process-wide (memory, freezes, listeners, modules, known secrets) get a
 * fresh process. The others share a few, because reloading all modules takes longer than most tests.
 */
const OWN_PROCESS =
  /\b(memoryUsage|vi\.mock|vi\.doMock|process\.on)\(|globalThis\.\w+ = |support\/(program|server)\.ts|\[F34\]/

function testsIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter(name => name.endsWith('.test.ts')).map(name => join(folder, name))
}

const browser = files.filter(file => file.startsWith(join(root, 'packages/console/test')))
/** They run the documentation: its examples, commands and code blocks, and its types in a strict project. */
const documentation = files.filter(file =>
  /\/tests\/(examples|code-blocks|strict-project)\.test\.ts$/.test(file),
)
/** They send what a hostile tool, server, client or model might: slow, and rarely affected by a change. */
const attack = files.filter(file => file.endsWith('.attack.test.ts'))
const others = files.filter(file => ![...browser, ...documentation, ...attack].includes(file))
const alone = others.filter(file => OWN_PROCESS.test(readFileSync(file, 'utf8')))

export default defineConfig({
  test: {
    // Tests spend half their time waiting for processes: four workers keep two cores busy.
    maxWorkers: 4,
    // Tests create a lot of short-lived garbage: a larger young generation saves a fifth of the CPU time.
    execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=16'],
    sequence: { sequencer: LongestFirst },
    // Only where a failure would cost a whole run: locally nothing is tried twice.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      { extends: true, test: { name: 'alone', include: alone, isolate: true } },
      {
        extends: true,
        // Collecting in parallel only takes the cores from the other workers.
        test: {
          name: 'shared',
          include: others,
          exclude: alone,
          isolate: false,
          execArgv: ['--single-threaded-gc'],
        },
      },
      // Some of them speak into a microphone, and a busy machine loses sound: then they say it again.
      { extends: true, test: { name: 'browser', include: browser, isolate: false, retry: 2 } },
      { extends: true, test: { name: 'documentation', include: documentation } },
      { extends: true, test: { name: 'attack', include: attack } },
    ],
  },
})
