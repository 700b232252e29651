import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'tests/**/*.test.ts'],
    // Most of them wait for processes: two at once take two thirds of the time, also on two cores.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
