import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tests/longest-first.ts'

const BROWSER = ['packages/console/test/*.test.ts']
/** They run the documentation: its examples, commands and code blocks, and its types in a strict project. */
const DOCUMENTATION = ['tests/{examples,code-blocks}.test.ts']
/** They send what a hostile tool, server, client or model might: slow, and rarely affected by a change. */
const ATTACK = ['packages/**/*.attack.test.ts']
/** They measure, replace or clean up something process-wide: memory, listeners, modules, known secrets. */
const ALONE = ['packages/**/*.alone.test.ts']
const NOT_TESTS = ['**/node_modules/**', '**/dist/**']

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
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['{packages,tests,examples}/**/*.test.ts'],
          exclude: [...NOT_TESTS, ...ALONE, ...BROWSER, ...DOCUMENTATION, ...ATTACK],
          // They share a few processes, because reloading all modules takes longer than most tests.
          isolate: false,
          // Collecting in parallel only takes the cores from the other workers.
          execArgv: ['--single-threaded-gc'],
        },
      },
      // Some of them speak into a microphone, and a busy machine loses sound: then they say it again.
      { extends: true, test: { name: 'browser', include: BROWSER, isolate: false, retry: 2 } },
      { extends: true, test: { name: 'documentation', include: DOCUMENTATION } },
      { extends: true, test: { name: 'attack', include: ATTACK } },
    ],
  },
})
