import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'tests/**/*.test.ts'],
    // Files of a worker share its modules: loading them anew for each file took half of the processor's time.
    isolate: false,
    // Half of the tests wait for processes: two workers on two cores keep both busy.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
