import { defineConfig } from 'vitest/config'

/** Tests that start programs, browsers and brokers, or change what a whole process has (its environment, its memory). */
const PROCESSES = [
  'packages/*/test/**/*.test.ts',
  'packages/toolpost/src/cli/**/*.test.ts',
  // What is known to be a secret is known to the whole process.
  'packages/toolpost/src/{gateway,logging,mcp,project,telemetry}/**/*.test.ts',
  'tests/**/*.test.ts',
]

export default defineConfig({
  test: {
    // Half of the tests wait for processes: three workers keep two cores busy.
    maxWorkers: 3,
    // A machine that others use too may be late once; what fails twice is broken.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      { extends: true, test: { name: 'processes', include: PROCESSES } },
      {
        extends: true,
        test: {
          name: 'modules',
          include: ['packages/*/src/**/*.test.ts'],
          exclude: PROCESSES,
          // Files of a worker share its modules: loading them anew for each file took most of the time.
          isolate: false,
        },
      },
    ],
  },
})
